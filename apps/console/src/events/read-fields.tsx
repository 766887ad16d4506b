import { Button } from '../ui/button.js';
import { SelectField, TextField } from '../ui/field.js';
import type { ReadDraft } from './version-draft.js';
import type { PartProps } from './version-problems.js';

export function ReadFields({ draft: { reads }, change, problems, schemas }: PartProps) {
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
            onClick={() => change({ reads: reads.filter((_read, at) => at !== index) })}
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
