import { NumberField, SelectField, TextField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import type { Answer } from './version-draft.js';
import type { PartProps } from './version-problems.js';

const ANSWERS = (usual: string): readonly (readonly [Answer, string])[] => [
  ['either', usual],
  ['yes', 'allowed'],
  ['no', 'refused'],
];

export const GuardFields = ({ draft, change, problems }: Omit<PartProps, 'schemas'>) => (
  <div className="space-y-4">
    <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      <SelectField
        label="Creating instances"
        value={draft.create}
        onChange={(create) => change({ create })}
        options={ANSWERS('allowed, as usual')}
      />
      <SelectField
        label="Deleting instances"
        value={draft.delete}
        onChange={(answer) => change({ delete: answer })}
        options={ANSWERS('by templates, not by models')}
      />
      <NumberField
        label="Instances changed at most"
        isWhole
        value={draft.maxInstances}
        onChange={(maxInstances) => change({ maxInstances })}
        error={problems.at('/guards/maxInstances')}
      />
      <TextField
        label="Attributes that stay"
        value={draft.deny}
        onChange={(deny) => change({ deny })}
        hint="Separated by commas."
        error={problems.at('/guards/deny')}
      />
    </div>
    <JsonEditor
      label="How far numbers may move"
      hint='Such as { "wins": 1, "stamina": 20 }. Empty: as far as their constraints allow.'
      value={draft.maxDelta}
      onChange={(maxDelta) => change({ maxDelta })}
      problems={problems.within('/guards/maxDelta')}
      rows={3}
    />
  </div>
);
