import { CheckField, SelectField } from '../ui/field.js';
import type { ChangeMode } from './version-draft.js';
import type { PartProps } from './version-problems.js';
import { MODE_WORDS } from './version-words.js';

type Choice = ChangeMode | 'no';

const CHOICES: readonly (readonly [Choice, string])[] = [
  ['no', 'stays as it is'],
  ...(['partial', 'full', 'append'] as const).map((mode) => [mode, `${mode}: ${MODE_WORDS[mode]}`] as const),
];

export function ModeFields({ draft: { modes }, change, problems, schemas }: PartProps) {
  const names = [...new Set([...schemas, ...Object.keys(modes ?? {})])];
  const choose = (name: string, choice: Choice) => {
    const { [name]: _before, ...others } = modes ?? {};
    change({ modes: choice === 'no' ? others : { ...others, [name]: choice } });
  };
  const all = () => change({ modes: null });
  const some = () => change({ modes: Object.fromEntries(names.map((name) => [name, 'partial'])) });
  return (
    <div className="space-y-3">
      <CheckField
        label="Every schema of the world, attribute by attribute"
        checked={modes === null}
        onChange={(isAll) => (isAll ? all() : some())}
      />
      {modes !== null && (
        <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
          {names.map((name) => (
            <SelectField
              key={name}
              label={name}
              value={modes[name] ?? 'no'}
              onChange={(choice) => choose(name, choice)}
              options={CHOICES}
              error={problems.at(`/stateChanges/${name}`)}
            />
          ))}
        </div>
      )}
    </div>
  );
}
