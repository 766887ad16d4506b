import type { FieldLabels } from '../../ui/field-labels.js';

/** What the parts of a version are called in its form, by pointers into its body. */
export const VERSION_LABELS: FieldLabels = {
  '/inputSchema': 'Input',
  '/outputSchema': 'Result',
  '/readEntities': 'Reads',
  '/stateChanges': 'May change',
  '/mutationSettings': 'What decides',
  '/mutationSettings/template': 'Template',
  '/mutationSettings/behaviorPrompt': 'Behaviour prompt',
  '/behaviorPrompt': 'Behaviour prompt',
  '/guards': 'Guards',
  '/guards/maxInstances': 'Instances changed at most',
  '/guards/maxDelta': 'How far numbers may move',
  '/guards/deny': 'Attributes that stay',
  '/executionSettings': 'Who runs it',
  '/executionSettings/priceUsd': 'Price in US dollars',
  '/executionSettings/cron/schedule': 'Schedule',
  '/executionSettings/cron/timezone': 'Time zone',
  '/executionSettings/cron/input': 'Input of each run',
};
