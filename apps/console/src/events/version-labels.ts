import { placeWords } from '../forms/place-words.js';
import { type FieldLabels, labelAt } from '../ui/field-labels.js';

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
  '/executionSettings/cron': 'Schedule',
  '/executionSettings/cron/schedule': 'Schedule',
  '/executionSettings/cron/timezone': 'Time zone',
  '/executionSettings/cron/input': 'Input of each run',
};

/** A place in a version, also in the request that makes an event with it: `Template, wins of horse:{{input.winner}}`. */
export function versionPlace(pointer: string): string | undefined {
  const inBody = pointer.replace(/^\/firstVersion(?=\/|$)/, '');
  const label = labelAt(VERSION_LABELS, inBody);
  const part = Object.keys(VERSION_LABELS).findLast((one) => `${inBody}/`.startsWith(`${one}/`)) ?? inBody;
  const place = placeWords(inBody.slice(part.length).replace(/^\/stateChanges(?=\/)/, ''));
  return label === undefined || place === undefined ? label : `${label}, ${place}`;
}
