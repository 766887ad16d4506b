import { type FieldProblem, fieldProblem } from '@orrery/contracts';
import type { StoredVersion } from '../stored-version.js';

export function missingTemplate({ mutationSettings }: StoredVersion): FieldProblem[] {
  return mutationSettings?.mode === 'direct' && mutationSettings.template === undefined
    ? [fieldProblem('/mutationSettings/template', 'template_required', 'mode "direct" needs a template')]
    : [];
}

export function missingPrompt({ mutationSettings, behaviorPrompt }: StoredVersion): FieldProblem[] {
  return mutationSettings?.mode === 'ai' && (behaviorPrompt ?? '').trim() === ''
    ? [fieldProblem('/behaviorPrompt', 'behavior_prompt_required', 'mode "ai" needs a behaviorPrompt')]
    : [];
}
