import { useState } from 'react';
import type { Attribute } from '../api/records.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote, problemAt } from '../ui/error-note.js';
import { CheckField, NumberField, SelectField, TextField } from '../ui/field.js';
import { fieldsOf } from '../ui/field-labels.js';
import { Form } from '../ui/form.js';
import { type AttributeDraft, bodyOf, constraintsOf } from './attribute-draft.js';
import { isUnreadable, readTyped, samplesOf, whyWrong } from './check-value.js';

export interface AttributeFormProps {
  initial: AttributeDraft;
  verb: string;
  pending: boolean;
  error: unknown;
  onSubmit: (body: ReturnType<typeof bodyOf>) => void;
  onCancel: () => void;
}

const TYPES: readonly (readonly [Attribute['type'], string])[] = [
  ['integer', 'integer: a whole number'],
  ['float', 'float: any number'],
  ['string', 'string: text'],
  ['boolean', 'boolean: true or false'],
  ['json', 'json: any JSON'],
];
const FIELDS = fieldsOf({
  '/name': 'Name',
  '/type': 'Type',
  '/constraints/min': 'Least (min)',
  '/constraints/max': 'Greatest (max)',
  '/constraints/enum': 'Only these',
  '/constraints/pattern': 'Pattern',
  '/defaultValue': 'Default',
});

/** An attribute and, beside it, its rules at work. */
export function AttributeForm({ initial, verb, pending, error, onSubmit, onCancel }: AttributeFormProps) {
  const [draft, setDraft] = useState(initial);
  const change = (part: Partial<AttributeDraft>) => setDraft((now) => ({ ...now, ...part }));
  const wrongDefault = wrongText(draft.defaultValue, draft);
  const sayDefault = wrongDefault && `The default ${wrongDefault}.`;
  return (
    <Form onSubmit={() => onSubmit(bodyOf(draft))} className="grid gap-x-6 gap-y-4 md:grid-cols-[3fr_2fr]">
      <div className="space-y-4">
        <TextField
          label="Name"
          required
          value={draft.name}
          onChange={(name) => change({ name })}
          error={problemAt(error, '/name')}
        />
        <SelectField
          label="Type"
          value={draft.type}
          onChange={(type) => change({ type })}
          options={TYPES}
          error={problemAt(error, '/type')}
        />
        <Constraints draft={draft} change={change} error={error} />
        <TextField
          label="Default"
          value={draft.defaultValue}
          onChange={(defaultValue) => change({ defaultValue })}
          hint={draft.type === 'string' ? 'Empty: none.' : 'As JSON. Empty: none.'}
          error={problemAt(error, '/defaultValue') ?? sayDefault}
          unreadable={isUnreadable(draft.defaultValue, draft.type) ? sayDefault : undefined}
        />
      </div>
      <AtWork draft={draft} />
      <div className="md:col-span-2">
        <ErrorNote title="The attribute was not saved" error={error} {...FIELDS} />
        <Actions>
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" look="primary" pending={pending}>
            {verb}
          </Button>
        </Actions>
      </div>
    </Form>
  );
}

interface PartProps {
  draft: AttributeDraft;
  change: (part: Partial<AttributeDraft>) => void;
  error: unknown;
}

function Constraints({ draft, change, error }: PartProps) {
  const isNumber = draft.type === 'integer' || draft.type === 'float';
  return (
    <>
      {isNumber && (
        <div className="grid grid-cols-2 gap-3">
          <NumberField
            label="Least (min)"
            value={draft.min}
            onChange={(min) => change({ min })}
            error={problemAt(error, '/constraints/min')}
          />
          <NumberField
            label="Greatest (max)"
            value={draft.max}
            onChange={(max) => change({ max })}
            error={problemAt(error, '/constraints/max')}
          />
        </div>
      )}
      {draft.type === 'string' && (
        <>
          <TextField
            label="Only these"
            value={draft.enum}
            onChange={(words) => change({ enum: words })}
            hint="Separated by commas. Empty: any text."
            error={problemAt(error, '/constraints/enum')}
          />
          <TextField
            label="Pattern"
            value={draft.pattern}
            onChange={(pattern) => change({ pattern })}
            hint="A regular expression; with ^ and $ for the whole text."
            error={problemAt(error, '/constraints/pattern')}
          />
        </>
      )}
      <CheckField
        label="Required"
        hint="Present and not null, once the default is filled in."
        checked={draft.required}
        onChange={(required) => change({ required })}
      />
    </>
  );
}

/** Values at the edges of the rules, and one to try. */
function AtWork({ draft }: { draft: AttributeDraft }) {
  const [text, setText] = useState('');
  const rules = { type: draft.type, constraints: constraintsOf(draft) };
  const wrong = wrongText(text, draft);
  return (
    <section aria-label="The rules at work" className="rounded-md border border-line bg-sunken p-3">
      <h3 className="mb-2 text-sm font-semibold">The rules at work</h3>
      <ul className="space-y-1 text-sm">
        {samplesOf(rules).map(({ shown, wrong: reason }) => (
          <li key={shown} className="flex items-baseline gap-2">
            <Verdict wrong={reason} />
            <code className="max-w-40 truncate font-mono">{shown}</code>
            {reason && <span className="text-muted">{reason}</span>}
          </li>
        ))}
      </ul>
      <TextField className="mt-3" label="Try a value" value={text} onChange={setText} />
      {text !== '' && (
        <p role="status" className="mt-1.5 flex items-baseline gap-2 text-sm">
          <Verdict wrong={wrong} />
          {wrong ?? 'is fine'}
        </p>
      )}
    </section>
  );
}

const Verdict = ({ wrong }: { wrong: string | undefined }) =>
  wrong === undefined ? (
    <span className="font-semibold text-ok">
      <span aria-hidden="true">✓</span>
      <span className="sr-only">taken:</span>
    </span>
  ) : (
    <span className="font-semibold text-bad">
      <span aria-hidden="true">✗</span>
      <span className="sr-only">refused:</span>
    </span>
  );

/** What is wrong with what was typed; undefined where nothing is. */
function wrongText(text: string, draft: AttributeDraft): string | undefined {
  if (text === '') return undefined;
  try {
    return whyWrong(readTyped(text, draft.type), { type: draft.type, constraints: constraintsOf(draft) });
  } catch {
    return 'is no JSON';
  }
}
