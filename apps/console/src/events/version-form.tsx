import type { EntitySchema } from '../api/records.js';
import { useSchemas } from '../api/worlds.js';
import { NumberField, SelectField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { CronFields } from './cron-fields.js';
import {
  Guards,
  Modes,
  Part,
  type PartProps,
  partsOf,
  Reads,
  type VersionFormProps,
} from './version-parts.js';

export function VersionForm({ world, ...props }: VersionFormProps & { world: string }) {
  const { data } = useSchemas(world);
  const parts = partsOf(props, data?.data.map(({ name }) => name) ?? []);
  return (
    <div className="space-y-5">
      <Part title="Contracts" lead="What it takes and what it answers; empty for anything.">
        <Contracts {...parts} />
      </Part>
      <Part title="Reads" lead="Which instances it sees before it decides.">
        <Reads {...parts} />
      </Part>
      <Part title="May change" lead="And how a change meets the state that is there.">
        <Modes {...parts} />
      </Part>
      <Part title="What decides" lead="A template computes the changes; an AI model proposes them.">
        <Decision {...parts} example={data?.data[0]} />
      </Part>
      <Part title="Guards" lead="Limits on its changes, whatever is proposed.">
        <Guards {...parts} />
      </Part>
      <Part title="Who runs it" lead="And when, and for how much.">
        <Execution {...parts} />
      </Part>
    </div>
  );
}

const Contracts = ({ json }: PartProps) => (
  <div className="grid gap-4 lg:grid-cols-2">
    <JsonEditor
      {...json('inputSchema', '/inputSchema')}
      hint='Such as { "winner": "string", "laps": "integer?" }, or JSON Schema.'
      rows={6}
    />
    <JsonEditor {...json('outputSchema', '/outputSchema')} hint="In the same two forms." rows={6} />
  </div>
);

function Decision({
  draft,
  field,
  json,
  problems,
  example,
}: PartProps & { example: Attributes | undefined }) {
  const prompt = json('prompt', '/mutationSettings/behaviorPrompt');
  return (
    <div className="space-y-4">
      <SelectField
        {...field('decides')}
        className="max-w-sm"
        label="Decided by"
        options={[
          ['direct', 'A template'],
          ['ai', 'An AI model'],
        ]}
      />
      {draft.decides === 'direct' ? (
        <JsonEditor
          {...json('template', '/mutationSettings/template')}
          hint={templateHint(example)}
          rows={10}
          required
        />
      ) : (
        <JsonEditor
          {...prompt}
          hint="What the event does, in words. The model sees it with the world, what was read, and the input."
          language="text"
          problems={[...prompt.problems, ...problems.within('/behaviorPrompt')]}
          rows={8}
          required
        />
      )}
    </div>
  );
}

const Execution = (parts: PartProps) => (
  <div className="space-y-4">
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        {...parts.field('visibility')}
        label="Started by"
        options={[
          ['admin', 'its owner'],
          ['public', 'any wallet too, once the deployment is published'],
          ['cron', 'a schedule too'],
        ]}
      />
      {parts.draft.visibility === 'public' && (
        <NumberField
          {...parts.field('priceUsd', '/executionSettings/priceUsd')}
          hint="Empty or 0: free. Others pay to the deployment's payToAddress."
        />
      )}
    </div>
    {parts.draft.visibility === 'cron' && <CronFields {...parts} />}
  </div>
);

type Attributes = Pick<EntitySchema, 'name' | 'attributes'>;
const HORSE: Attributes = { name: 'horse', attributes: [] };
const INCREMENT = '{ "$increment": 1 }';

/** The key of a change names an instance: the one thing of a template that nobody can guess. */
function templateHint({ name, attributes }: Attributes = HORSE): string {
  const number = attributes.find(({ type }) => type === 'integer' || type === 'float');
  const [first] = attributes;
  const set = first === undefined ? `"wins": ${INCREMENT}` : `"${first.name}": …`;
  const change = number === undefined ? set : `"${number.name}": ${INCREMENT}`;
  return (
    `A change is named by schema and instance: "stateChanges": { "${name}:{{input.${name}}}": { ${change} } }. ` +
    'Expressions stand in {{ }}: input, entities, timestamp and others. ' +
    'Operators of an attribute: $increment, $set, $merge, $append, $unset; { "$delete": true } takes the whole instance away.'
  );
}
