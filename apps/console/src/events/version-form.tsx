import type { ReactNode } from 'react';
import { useNextTimes } from '../api/deployments.js';
import type { EntitySchema } from '../api/records.js';
import { useEvents, useSchemas } from '../api/worlds.js';
import { CheckField, NumberField, type Option, SelectField, TextField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { problemAt, problemsOf, wordsOf } from '../ui/messages.js';
import { Card } from '../ui/page.js';
import { fieldOf } from '../ui/save-form.js';
import { useSettled } from '../ui/settled.js';
import { Time } from '../ui/values.js';
import {
  type Completed,
  completionsAt,
  completionsOfCondition,
  inputMembers,
  type KnownNames,
} from './completions.js';
import type { Answer, ChangeMode, VersionDraft } from './version-draft.js';
import { Reads } from './version-reads.js';
import { MODE_WORDS, VERSION_LABELS, type VersionProblems } from './version-words.js';

interface VersionFormProps {
  draft: VersionDraft;
  change: (part: Partial<VersionDraft>) => void;
  problems: VersionProblems;
}

/** What each part of the form gets. */
const partsOf = (props: VersionFormProps, schemas: readonly string[], known: KnownNames) => {
  const { draft, change, problems } = props;
  const field = fieldOf(draft, change, VERSION_LABELS, problems.at);
  return {
    ...props,
    schemas,
    /** Completes what is typed in an editor. */
    complete: (completed: Completed) => (text: string, at: number) =>
      completionsAt(text, at, known, completed),
    completeWhere: (schema: string) => (text: string, at: number) =>
      completionsOfCondition(text, at, known, schema),
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

export function VersionForm({ world, ...props }: VersionFormProps & { world: string }) {
  const { data } = useSchemas(world);
  const events = useEvents(world).data?.data.map(({ name }) => name) ?? [];
  const schemas = data?.data ?? [];
  const known = { input: inputMembers(props.draft.inputSchema), schemas, events };
  const parts = partsOf(
    props,
    schemas.map(({ name }) => name),
    known,
  );
  return (
    <div className="space-y-5">
      <Part title="Contracts" lead="What it takes and what it answers; empty for anything.">
        <Contracts {...parts} />
      </Part>
      <Part title="Reads" lead="Which instances it sees before it decides.">
        <Reads {...parts} reads={parts.draft.reads} change={(reads) => props.change({ reads })} />
        <JsonEditor
          {...parts.json('memory', '/readHistory')}
          hint='Which earlier executions it is given, such as { "last": 20, "instances": "read" }; empty for none.'
          rows={3}
        />
      </Part>
      <Part title="May change" lead="And how a change meets the state that is there.">
        <Modes {...parts} />
      </Part>
      <Part title="What decides" lead="A template computes the changes; an AI model proposes them.">
        <Decision {...parts} example={data?.data[0]} />
      </Part>
      <Part title="Who runs it" lead="And when, and for how much.">
        <Execution {...parts} />
      </Part>
      <Part title="What follows" lead="Executions that it sets once it has succeeded.">
        <JsonEditor
          {...parts.json('followUps', '/followUps')}
          complete={parts.complete('followUps')}
          hint='A list such as [{ "event": "match", "after": "PT90S", "when": "{{ !result.isOver }}" }]; empty for none.'
          rows={3}
        />
      </Part>
      <Part title="Guards" lead="Limits on its changes, whatever is proposed.">
        <Guards {...parts} />
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

function Decision({ example, ...parts }: PartProps & { example: Attributes | undefined }) {
  const { draft, field, json, problems } = parts;
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
          complete={parts.complete('template')}
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
          hint="Empty or 0: free. Others pay to an address in the deployment's settings."
        />
      )}
    </div>
    {parts.draft.visibility === 'public' && (
      <CheckField
        label="A payment alone may execute it: the payer is the caller"
        checked={parts.draft.payerMayCall}
        onChange={(payerMayCall) => parts.change({ payerMayCall })}
      />
    )}
    <CheckField
      label="Random numbers come from a public beacon: an execution waits some seconds for its round"
      checked={parts.draft.isFromBeacon}
      onChange={(isFromBeacon) => parts.change({ isFromBeacon })}
    />
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

const Part = ({ title, lead, children }: { title: string; lead: string; children: ReactNode }) => (
  <Card>
    <h2 className="text-lg font-semibold">{title}</h2>
    <p className="mb-3 text-sm text-muted">{lead}</p>
    {children}
  </Card>
);

type Choice = ChangeMode | 'no';

const CHOICES: readonly Option<Choice>[] = [
  ['no', 'stays as it is'],
  ...(['partial', 'full', 'append'] as const).map((mode) => [mode, `${mode}: ${MODE_WORDS[mode]}`] as const),
];

function Modes({ draft: { modes }, change, problems, schemas }: PartProps) {
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

const answers = (usual: string): readonly Option<Answer>[] => [
  ['either', usual],
  ['yes', 'allowed'],
  ['no', 'refused'],
];

const Guards = ({ field, json }: PartProps) => (
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

export function CronFields({ draft, field, json, complete }: PartProps) {
  const next = useNextTimes(
    useSettled(draft.schedule.trim()),
    useSettled(draft.timezone.trim()) || 'UTC',
    null,
  );
  const ofSchedule = field('schedule', '/executionSettings/cron/schedule');
  const ofZone = field('timezone', '/executionSettings/cron/timezone');
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="space-y-4">
        <TextField
          {...ofSchedule}
          required
          hint="Five fields: minute, hour, day of month, month, day of week."
          error={ofSchedule.error ?? problemAt(next.error, '/schedule')}
        />
        <TextField {...ofZone} placeholder="UTC" error={ofZone.error ?? problemAt(next.error, '/timezone')} />
        <section aria-label="Next due times" aria-live="polite" className="text-sm">
          {next.error && !isAtField(next.error) && <p className="text-bad">{wordsOf(next.error)}</p>}
          {next.data && (
            <>
              <p className="font-medium">{next.data.description ?? 'Next due'}</p>
              <ol className="mt-1 space-y-0.5 text-muted">
                {next.data.times.map((at) => (
                  <li key={at}>
                    <Time at={at} /> (<Time at={at} relative />)
                  </li>
                ))}
              </ol>
            </>
          )}
        </section>
      </div>
      <JsonEditor
        {...json('cronInput', '/executionSettings/cron/input')}
        complete={complete('cron')}
        hint="A template: counter, scheduledAt and cronState may stand in {{ }}."
        rows={6}
      />
    </div>
  );
}

const isAtField = (error: unknown): boolean =>
  problemsOf(error).some(({ pointer }) => pointer === '/schedule' || pointer === '/timezone');
