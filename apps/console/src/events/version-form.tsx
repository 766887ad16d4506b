import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { EntitySchema } from '../api/records.js';
import { schemasQuery } from '../api/schemas.js';
import { useOrrery } from '../session/use-session.js';
import { NumberField, SelectField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { Card } from '../ui/page.js';
import { CronFields } from './cron-fields.js';
import { GuardFields } from './guard-fields.js';
import { ModeFields } from './mode-fields.js';
import { ReadFields } from './read-fields.js';
import type { PartProps } from './version-problems.js';

/** Every part of a version, each with what is wrong with it. */
export function VersionForm({ world, ...props }: Omit<PartProps, 'schemas'> & { world: string }) {
  const { data } = useQuery(schemasQuery(useOrrery(), world));
  const parts = { ...props, schemas: data?.data.map(({ name }) => name) ?? [] };
  return (
    <div className="space-y-5">
      <Contracts {...parts} />
      <Part title="Reads" lead="Which instances it sees before it decides.">
        <ReadFields {...parts} />
      </Part>
      <Part title="May change" lead="And how a change meets the state that is there.">
        <ModeFields {...parts} />
      </Part>
      <Part title="What decides" lead="A template computes the changes; an AI model proposes them.">
        <Decision {...parts} example={data?.data[0]} />
      </Part>
      <Part title="Guards" lead="Limits on its changes, whatever is proposed.">
        <GuardFields {...parts} />
      </Part>
      <Part title="Who runs it" lead="And when, and for how much.">
        <Execution {...parts} />
      </Part>
    </div>
  );
}

const Part = ({ title, lead, children }: { title: string; lead: string; children: ReactNode }) => (
  <Card>
    <h2 className="text-lg font-semibold">{title}</h2>
    <p className="mb-3 text-sm text-muted">{lead}</p>
    {children}
  </Card>
);

const Contracts = ({ draft, change, problems }: PartProps) => (
  <Part title="Contracts" lead="What it takes and what it answers; empty for anything.">
    <div className="grid gap-4 lg:grid-cols-2">
      <JsonEditor
        label="Input"
        hint='Such as { "winner": "string", "laps": "integer?" }, or JSON Schema.'
        value={draft.inputSchema}
        onChange={(inputSchema) => change({ inputSchema })}
        problems={problems.within('/inputSchema')}
        rows={6}
      />
      <JsonEditor
        label="Result"
        hint="In the same two forms."
        value={draft.outputSchema}
        onChange={(outputSchema) => change({ outputSchema })}
        problems={problems.within('/outputSchema')}
        rows={6}
      />
    </div>
  </Part>
);

function Decision({ draft, change, problems, example }: PartProps & { example: Attributes | undefined }) {
  const inPrompt = [
    ...problems.within('/mutationSettings/behaviorPrompt'),
    ...problems.within('/behaviorPrompt'),
  ];
  return (
    <div className="space-y-4">
      <SelectField
        className="max-w-sm"
        label="Decided by"
        value={draft.decides}
        onChange={(decides) => change({ decides })}
        options={[
          ['direct', 'A template'],
          ['ai', 'An AI model'],
        ]}
      />
      {draft.decides === 'direct' ? (
        <JsonEditor
          label="Template"
          hint={templateHint(example)}
          value={draft.template}
          onChange={(template) => change({ template })}
          problems={problems.within('/mutationSettings/template')}
          rows={10}
          required
        />
      ) : (
        <JsonEditor
          label="Behaviour prompt"
          hint="What the event does, in words. The model sees it with the world, what was read, and the input."
          language="text"
          value={draft.prompt}
          onChange={(prompt) => change({ prompt })}
          problems={inPrompt}
          rows={8}
          required
        />
      )}
    </div>
  );
}

function Execution({ draft, change, problems }: PartProps) {
  return (
    <div className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Started by"
          value={draft.visibility}
          onChange={(visibility) => change({ visibility })}
          options={[
            ['admin', 'its owner'],
            ['public', 'any wallet too, once the deployment is published'],
            ['cron', 'a schedule too'],
          ]}
        />
        {draft.visibility === 'public' && (
          <NumberField
            label="Price in US dollars"
            value={draft.priceUsd}
            onChange={(priceUsd) => change({ priceUsd })}
            hint="Empty or 0: free. Others pay to the deployment's payToAddress."
            error={problems.at('/executionSettings/priceUsd')}
          />
        )}
      </div>
      {draft.visibility === 'cron' && <CronFields draft={draft} change={change} problems={problems} />}
    </div>
  );
}

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
