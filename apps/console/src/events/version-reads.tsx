import { Button } from '../ui/button.js';
import { named, SelectField, TextField } from '../ui/field.js';
import type { EditorProps } from '../ui/json-editor/editor.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { NEW_READ, type ReadDraft } from './version-draft.js';
import type { VersionProblems } from './version-words.js';

interface ReadsProps {
  readonly reads: readonly ReadDraft[];
  readonly change: (reads: readonly ReadDraft[]) => void;
  readonly problems: VersionProblems;
  /** Their names. */
  readonly schemas: readonly string[];
  /** Completes a condition over the instances of a schema. */
  readonly completeWhere: (schema: string) => EditorProps['complete'];
}

/** What a version reads before it decides. */
export function Reads({ reads, change, problems, schemas, completeWhere }: ReadsProps) {
  const [first = ''] = schemas;
  return (
    <div className="space-y-3">
      {reads.map((read, index) => (
        <div key={keyOf(reads, index)} className="grid items-start gap-3 sm:grid-cols-[1fr_2fr_auto]">
          <SelectField
            label="Schema"
            value={read.schema}
            onChange={(schema) => change(reads.with(index, { ...read, schema }))}
            options={named(new Set([read.schema, ...schemas]))}
            error={problems.at(`/readEntities/${index}/schema`)}
          />
          {TEXTS.map(({ member, label, hint, className }) => (
            <div key={member} className={className}>
              <TextField
                label={label}
                value={read[member]}
                onChange={(text) => change(reads.with(index, { ...read, [member]: text }))}
                hint={hint}
                error={problems.at(`/readEntities/${index}/${member}`)}
              />
            </div>
          ))}
          <div className="min-w-0 sm:col-start-2">
            <JsonEditor
              label="Those for which this holds"
              language="text"
              rows={1}
              value={read.where}
              onChange={(where) => change(reads.with(index, { ...read, where }))}
              complete={completeWhere(read.schema)}
              hint="A condition over instance, id and input: instance.wins > 3. Empty: all of them."
              problems={problems.within(`/readEntities/${index}/where`)}
            />
          </div>
          <Button
            className="sm:col-start-3 sm:row-start-1 sm:mt-6"
            aria-label={`Remove ${read.schema} from what is read`}
            onClick={() => change(reads.toSpliced(index, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      {reads.length === 0 && <p className="text-muted">It reads nothing: it sees its input alone.</p>}
      <Button
        size="small"
        disabled={schemas.length === 0}
        onClick={() => change([...reads, { ...NEW_READ, schema: first }])}
      >
        Read a schema
      </Button>
    </div>
  );
}

const TEXTS = [
  {
    member: 'filter',
    label: 'Those that the input names at',
    hint: 'Paths into the input, separated by commas. Empty: all instances.',
    className: '',
  },
  {
    member: 'limit',
    label: 'At most',
    hint: 'So many instances, 500 at most.',
    className: 'sm:col-start-1',
  },
  {
    member: 'orderBy',
    label: 'In the order of',
    hint: 'Attributes, separated by commas, each with or without desc: wins desc, speed.',
    className: '',
  },
] as const;

/** A schema may be read twice, with different filters: then its turn tells them apart. */
function keyOf(reads: readonly ReadDraft[], index: number): string {
  const schema = reads[index]?.schema ?? '';
  return `${schema} ${reads.slice(0, index).filter((read) => read.schema === schema).length}`;
}
