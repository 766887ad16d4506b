import type { ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { CheckField, NumberField, SelectField, TextField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { Card } from '../ui/page.js';
import { fieldOf } from '../ui/save-form.js';
import type { Answer, ChangeMode, ReadDraft, VersionDraft } from './version-draft.js';
import type { VersionProblems } from './version-problems.js';
import { MODE_WORDS, VERSION_LABELS } from './version-words.js';

export interface VersionFormProps {
  draft: VersionDraft;
  change: (part: Partial<VersionDraft>) => void;
  problems: VersionProblems;
}

/** What each part of the form gets. */
export const partsOf = (props: VersionFormProps, schemas: readonly string[]) => {
  const { draft, change, problems } = props;
  const field = fieldOf(draft, change, VERSION_LABELS, problems.at);
  return {
    ...props,
    schemas,
    /** The props of a field, by the member of the draft and the pointer into the body. */
    field,
    /** The same of an editor. */
    json: (name: Parameters<typeof field>[0], pointer: string) => ({
      label: VERSION_LABELS[pointer] ?? name,
      value: String(draft[name]),
      onChange: (text: string) => change({ [name]: text }),
      problems: problems.within(pointer),
    }),
  };
};
export type PartProps = ReturnType<typeof partsOf>;

export const Part = ({ title, lead, children }: { title: string; lead: string; children: ReactNode }) => (
  <Card>
    <h2 className="text-lg font-semibold">{title}</h2>
    <p className="mb-3 text-sm text-muted">{lead}</p>
    {children}
  </Card>
);

export function Reads({ draft: { reads }, change, problems, schemas }: PartProps) {
  const replace = (index: number, part: Partial<ReadDraft>) =>
    change({ reads: reads.map((read, at) => (at === index ? { ...read, ...part } : read)) });
  const [first = ''] = schemas;
  return (
    <div className="space-y-3">
      {reads.map((read, index) => (
        <div key={keyOf(reads, index)} className="grid items-start gap-3 sm:grid-cols-[1fr_2fr_auto]">
          <SelectField
            label="Schema"
            value={read.schema}
            onChange={(schema) => replace(index, { schema })}
            options={[...new Set([read.schema, ...schemas])].map((name) => [name, name] as const)}
            error={problems.at(`/readEntities/${index}/schema`)}
          />
          <TextField
            label="Those that the input names at"
            value={read.filter}
            onChange={(filter) => replace(index, { filter })}
            hint="Paths into the input, separated by commas. Empty: all instances."
            error={problems.at(`/readEntities/${index}/filter`)}
          />
          <Button
            className="sm:mt-6"
            aria-label={`Remove ${read.schema} from what is read`}
            onClick={() => change({ reads: reads.toSpliced(index, 1) })}
          >
            Remove
          </Button>
        </div>
      ))}
      {reads.length === 0 && <p className="text-muted">It reads nothing: it sees its input alone.</p>}
      <Button
        size="small"
        disabled={schemas.length === 0}
        onClick={() => change({ reads: [...reads, { schema: first, filter: '' }] })}
      >
        Read a schema
      </Button>
    </div>
  );
}

/** A schema may be read twice, with different filters: then its turn tells them apart. */
function keyOf(reads: readonly ReadDraft[], index: number): string {
  const schema = reads[index]?.schema ?? '';
  return `${schema} ${reads.slice(0, index).filter((read) => read.schema === schema).length}`;
}

type Choice = ChangeMode | 'no';

const CHOICES: readonly (readonly [Choice, string])[] = [
  ['no', 'stays as it is'],
  ...(['partial', 'full', 'append'] as const).map((mode) => [mode, `${mode}: ${MODE_WORDS[mode]}`] as const),
];

export function Modes({ draft: { modes }, change, problems, schemas }: PartProps) {
  const names = [...new Set([...schemas, ...Object.keys(modes ?? {})])];
  const choose = (name: string, choice: Choice) => {
    const { [name]: _before, ...others } = modes ?? {};
    change({ modes: choice === 'no' ? others : { ...others, [name]: choice } });
  };
  const some = () => Object.fromEntries(names.map((name) => [name, 'partial' as const]));
  return (
    <div className="space-y-3">
      <CheckField
        label="Every schema of the world, attribute by attribute"
        checked={modes === null}
        onChange={(isAll) => change({ modes: isAll ? null : some() })}
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

const answers = (usual: string): readonly (readonly [Answer, string])[] => [
  ['either', usual],
  ['yes', 'allowed'],
  ['no', 'refused'],
];

export const Guards = ({ field, json }: PartProps) => (
  <div className="space-y-4">
    <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      <SelectField {...field('create')} label="Creating instances" options={answers('allowed, as usual')} />
      <SelectField
        {...field('delete')}
        label="Deleting instances"
        options={answers('by templates, not by models')}
      />
      <NumberField {...field('maxInstances', '/guards/maxInstances')} isWhole />
      <TextField {...field('deny', '/guards/deny')} hint="Separated by commas." />
    </div>
    <JsonEditor
      {...json('maxDelta', '/guards/maxDelta')}
      hint='Such as { "wins": 1, "stamina": 20 }. Empty: as far as their constraints allow.'
      rows={3}
    />
  </div>
);
