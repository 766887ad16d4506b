import type { JsonObject } from '@orrery/sdk';
import { useMemo, useState } from 'react';
import type { EventVersion } from '../api/records.js';
import type { Field, Member } from '../forms/form-model.js';
import { formOf } from '../forms/form-model.js';
import { CheckField, SelectField } from '../ui/field.js';
import { JsonView } from '../ui/json-view.js';
import { Diff } from '../ui/lazily.js';
import { Card, Details, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { guardWords, isByModel, MODE_WORDS, memoryWords, readWords } from './version-words.js';

const ROUTE = '/worlds/$world/events/$event';

export function Versions({ versions }: { versions: readonly EventVersion[] }) {
  const [{ right: chosen }] = usePageSearch(ROUTE);
  const right = find(versions, chosen) ?? versions.at(-1);
  if (right === undefined) return null;
  return (
    <>
      <Section title={`Version ${right.version}`}>
        <VersionView version={right} definition={definitionOf(right)} />
      </Section>
      {versions.length > 1 && <Comparison versions={versions} right={right} />}
    </>
  );
}

function Comparison({ versions, right }: { versions: readonly EventVersion[]; right: EventVersion }) {
  const [search, show] = usePageSearch(ROUTE, { replace: true });
  const [isWhole, setWhole] = useState(false);
  const left = find(versions, search.left) ?? before(versions, right);
  const [shownLeft, shownRight] = [useDefinition(left), useDefinition(right)];
  const choose = (part: 'left' | 'right') => (value: string) => void show({ [part]: Number(value) });
  const options = versions.map(({ version }) => [String(version), `Version ${version}`] as const);
  return (
    <Section title={`Version ${left.version} and version ${right.version}`}>
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <SelectField label="Left" value={String(left.version)} onChange={choose('left')} options={options} />
        <SelectField
          label="Right"
          value={String(right.version)}
          onChange={choose('right')}
          options={options}
        />
        <CheckField label="What is the same too" checked={isWhole} onChange={setWhole} className="pb-1.5" />
      </div>
      <Diff
        label={`Version ${left.version} and version ${right.version}`}
        titles={[`Version ${left.version}`, `Version ${right.version}`]}
        left={shownLeft}
        right={shownRight}
        onlyChanges={!isWhole}
      />
    </Section>
  );
}

const find = (versions: readonly EventVersion[], number: number | undefined): EventVersion | undefined =>
  versions.find(({ version }) => version === number);

/** The version before a version; of the first the one after it. */
const before = (versions: readonly EventVersion[], version: EventVersion): EventVersion =>
  versions.findLast((one) => one.version < version.version) ??
  versions.find((one) => one.version > version.version) ??
  version;

const useDefinition = (version: EventVersion): object => useMemo(() => definitionOf(version), [version]);

function definitionOf(version: EventVersion): object {
  const parts = [
    'inputSchema',
    'outputSchema',
    'readEntities',
    'readHistory',
    'stateChanges',
    'mutationSettings',
    'executionSettings',
    'guards',
    'followUps',
  ] as const;
  return Object.fromEntries(
    parts.flatMap((part) => (version[part] === undefined ? [] : [[part, version[part]]])),
  );
}

function VersionView({ version, definition }: { version: EventVersion; definition: object }) {
  const modes = version.stateChanges;
  return (
    <Card>
      <Details
        items={{
          Input: <Contract contract={version.inputSchema} none="Any input." />,
          Reads: (
            <Lines
              lines={version.readEntities.map((read) => [read.schema, readWords(read)])}
              none="Nothing: it sees its input alone."
            />
          ),
          ...(version.readHistory && { Remembers: memoryWords(version.readHistory) }),
          'May change':
            modes === null ? (
              `Every schema of the world, ${MODE_WORDS.partial}.`
            ) : (
              <Lines
                lines={Object.entries(modes).map(([schema, mode]) => [
                  schema,
                  `${mode}, ${MODE_WORDS[mode]}`,
                ])}
                none="Nothing."
              />
            ),
          'What decides': <Decision version={version} />,
          Guards: (
            <Lines
              lines={guardWords(version.guards, isByModel(version)).map((words) => [undefined, words])}
              none="None beyond the constraints of the attributes."
            />
          ),
          Result: <Contract contract={version.outputSchema} none="Any result." />,
          'Who runs it': <StartedBy version={version} />,
        }}
      />
      <details className="mt-4">
        <summary className="text-sm text-muted">As JSON</summary>
        <div className="mt-2">
          <JsonView value={definition} label={`Definition of version ${version.version}`} />
        </div>
      </details>
    </Card>
  );
}

const CELL = 'py-0.5 pr-4 align-top';

function Contract({ contract, none }: { contract: JsonObject | null; none: string }) {
  if (contract === null) return none;
  const rows = contractRows(contract);
  if (rows === undefined) return <JsonView value={contract} label="Contract" maxHeight={240} />;
  if (rows.length === 0) return 'Nothing.';
  return (
    <table className="text-left">
      <tbody>
        {rows.map(({ path, type, isRequired, note }) => (
          <tr key={path}>
            <th scope="row" className={`${CELL} font-mono text-sm font-normal`}>
              {path}
            </th>
            <td className={CELL}>
              {type}
              {!isRequired && <span className="text-muted">, may be left out</span>}
              {note && <span className="text-muted"> · {note}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface LinesProps {
  lines: readonly (readonly [name: string | undefined, words: string])[];
  none: string;
}

const Lines = ({ lines, none }: LinesProps) =>
  lines.length === 0 ? (
    none
  ) : (
    <ul className="space-y-0.5">
      {lines.map(([name, words]) => (
        <li key={`${name} ${words}`}>
          {name !== undefined && <span className="font-medium">{name}</span>}
          {name !== undefined && ': '}
          {words}
        </li>
      ))}
    </ul>
  );

/** Whoever does not own the world sees neither templates nor prompts. */
function Decision({ version }: { version: EventVersion }) {
  const { mutationSettings, behaviorPrompt } = version;
  if (mutationSettings === null && !behaviorPrompt) return 'Nothing yet: it cannot be run.';
  if (!isByModel(version))
    return (
      <>
        <p className="mb-1.5">A template:</p>
        {mutationSettings?.template ? (
          <JsonView value={mutationSettings.template} label="Template" />
        ) : (
          <p className="text-muted">Only its owner sees it.</p>
        )}
      </>
    );
  const prompt = mutationSettings?.behaviorPrompt ?? behaviorPrompt;
  return (
    <>
      <p className="mb-1.5">An AI model, asked with this prompt:</p>
      {prompt ? (
        <p className="max-w-3xl rounded-md border border-line bg-sunken px-3 py-2 whitespace-pre-wrap">
          {prompt}
        </p>
      ) : (
        <p className="text-muted">Only its owner sees it.</p>
      )}
    </>
  );
}

export function StartedBy({ version: { executionSettings } }: { version: EventVersion }) {
  const { visibility = 'admin', priceUsd, cron } = executionSettings ?? {};
  if (visibility === 'cron')
    return (
      <>
        its owner, <code className="font-mono text-sm">{cron?.schedule}</code> {cron?.timezone ?? 'UTC'}
      </>
    );
  if (visibility === 'admin') return 'its owner';
  return priceUsd ? `any wallet, for $${priceUsd}` : 'any wallet';
}

interface ContractRow {
  /** With dots: `car.speed`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly note: string;
}

/** The values of a contract in either notation (docs/schemas.md); undefined where they cannot be listed. */
export function contractRows(contract: JsonObject): ContractRow[] | undefined {
  const form = formOf(contract);
  return form.kind === 'form' ? form.root.members.flatMap((member) => rowsOf(member, '')) : undefined;
}

function rowsOf({ name, field, isRequired }: Member, parent: string): ContractRow[] {
  const path = parent === '' ? name : `${parent}.${name}`;
  const note = [field.title, field.description, field.kind === 'json' ? undefined : field.hint];
  const row = { path, type: typeWords(field), isRequired, note: note.filter(Boolean).join(' · ') };
  const inside = itemOf(field);
  return inside.kind === 'object' ? [row, ...inside.members.flatMap((one) => rowsOf(one, path))] : [row];
}

const itemOf = (field: Field): Field => (field.kind === 'list' ? itemOf(field.item) : field);

function typeWords(field: Field): string {
  switch (field.kind) {
    case 'text':
      return 'text';
    case 'number':
      return field.isWhole ? 'whole number' : 'number';
    case 'boolean':
      return 'true or false';
    case 'choice':
      return `one of ${field.options.map((option) => JSON.stringify(option)).join(', ')}`;
    case 'list':
      return `list of: ${typeWords(field.item)}`;
    case 'object':
      return 'object';
    case 'json':
      return field.hint ?? 'any JSON';
  }
}
