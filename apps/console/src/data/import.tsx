import { OrreryError } from '@orrery/sdk';
import { useMutation } from '@tanstack/react-query';
import { useId, useMemo, useRef, useState } from 'react';
import { useReadAnew } from '../api/change.js';
import { deploymentPath, INSTANCES, useDeploymentRef } from '../api/deployments.js';
import { useOrrery } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Actions, FormButton } from '../ui/dialog.js';
import { SelectField, TextArea } from '../ui/field.js';
import { ErrorNote, Progress, wordsOf } from '../ui/messages.js';
import { instancesKey } from './queries.js';
import { type FileRow, readInstances, type TypedAttribute } from './rows.js';

interface ImportProps {
  schema: string;
  attributes: readonly TypedAttribute[];
}

export const Import = ({ schema, attributes }: ImportProps) => (
  <FormButton verb="Import" size="small" title={`Import instances of ${schema}`} wide>
    {(close) => <ImportForm schema={schema} attributes={attributes} onClose={close} />}
  </FormButton>
);

/** What happens with an instance that is there already. */
type Existing = 'leave' | 'replace';
const EXISTING = [
  ['leave', 'leave it as it is'],
  ['replace', 'replace its state'],
] as const;

/** Longer files are imported by a program: each instance is an entry of the journal. */
const MOST_ROWS = 5000;
/** Problems that are shown. */
const MOST_SHOWN = 10;

function ImportForm({ schema, attributes, onClose }: ImportProps & { onClose: () => void }) {
  const [text, setText] = useState('');
  const [existing, setExisting] = useState<Existing>('leave');
  const read = useMemo(() => readInstances(text, attributes), [text, attributes]);
  const { run, done, stop } = useImport(schema);
  const problems =
    read.rows.length > MOST_ROWS
      ? [
          `It has ${read.rows.length.toLocaleString('en')} rows: ${MOST_ROWS.toLocaleString('en')} are the most at once.`,
        ]
      : read.problems;
  const isGiven = text.trim() !== '';
  return (
    <div className="space-y-4">
      <FileField onText={setText} />
      <TextArea
        label="Or paste it"
        rows={6}
        className="font-mono"
        value={text}
        onChange={setText}
        hint='CSV with a column instanceId and one for each attribute, or JSON: [{ "instanceId": "A", "state": { … } }].'
        spellCheck={false}
      />
      <SelectField<Existing>
        label="An instance that is there already"
        value={existing}
        onChange={setExisting}
        options={EXISTING}
      />
      {isGiven && <Found rows={read.rows} problems={problems} />}
      {run.isPending && (
        <Progress label={`${done} of ${read.rows.length} rows`} value={done / read.rows.length} />
      )}
      <ErrorNote title="The import has stopped" error={run.error} />
      {run.data && <Result result={run.data} />}
      <Actions>
        <Button onClick={run.isPending ? stop : onClose}>{run.isPending ? 'Stop' : 'Close'}</Button>
        <Button
          look="primary"
          pending={run.isPending}
          disabled={!isGiven || problems.length > 0 || read.rows.length === 0}
          onClick={() => run.mutate({ rows: read.rows, existing })}
        >
          Import {read.rows.length > 0 ? read.rows.length.toLocaleString('en') : ''}
        </Button>
      </Actions>
    </div>
  );
}

/** Bytes of a file that is read: an import is bounded by its rows, and a page by its memory. */
const LARGEST_FILE = 32 * 1024 * 1024;

function FileField({ onText }: { onText: (text: string) => void }) {
  const id = useId();
  const [refused, setRefused] = useState<string>();
  const take = async (file: File | undefined) => {
    setRefused(undefined);
    if (file === undefined) return;
    if (file.size > LARGEST_FILE) setRefused('The file is larger than 32 MiB.');
    else onText(await file.text());
  };
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        File
      </label>
      <input
        id={id}
        type="file"
        accept=".csv,.json,text/csv,application/json"
        className="block max-w-full text-base"
        onChange={({ target }) => void take(target.files?.[0])}
      />
      {refused && (
        <p role="alert" className="mt-1 text-sm font-medium text-bad">
          {refused}
        </p>
      )}
    </div>
  );
}

const Found = ({ rows, problems }: { rows: readonly FileRow[]; problems: readonly string[] }) =>
  problems.length === 0 ? (
    <p role="status">
      {rows.length.toLocaleString('en')} {rows.length === 1 ? 'instance' : 'instances'}, from{' '}
      {rows[0]?.instanceId} to {rows.at(-1)?.instanceId}.
    </p>
  ) : (
    <Lines title="It cannot be imported yet" lines={problems} />
  );

const Lines = ({ title, lines }: { title: string; lines: readonly string[] }) => (
  <div role="alert" className="rounded-md border border-bad/40 bg-bad-soft px-3.5 py-2.5">
    <p className="font-semibold text-bad">{title}</p>
    <ul className="mt-1 space-y-0.5 break-words">
      {lines.slice(0, MOST_SHOWN).map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
    {lines.length > MOST_SHOWN && <p className="text-muted">and {lines.length - MOST_SHOWN} more</p>}
  </div>
);

/** What became of the rows. */
interface Imported {
  readonly created: number;
  readonly replaced: number;
  readonly left: number;
  /** `A: wins is below 0`. */
  readonly refused: readonly string[];
}

const Result = ({ result: { created, replaced, left, refused } }: { result: Imported }) => (
  <>
    <p role="status">
      {created} created, {replaced} replaced, {left} left as they were.
    </p>
    {refused.length > 0 && <Lines title={`${refused.length} refused`} lines={refused} />}
  </>
);

type Verdict = 'created' | 'replaced' | 'left';

/** Instances at once: a deployment takes them one after the other. */
const AT_ONCE = 4;

function useImport(schema: string) {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const readAnew = useReadAnew();
  const [done, setDone] = useState(0);
  const stopping = useRef(new AbortController());
  const path = deploymentPath(ref);
  const put = async ({ instanceId, state }: FileRow, existing: Existing): Promise<Verdict> => {
    const { signal } = stopping.current;
    try {
      await orrery.post(INSTANCES, { path, body: { entitySchema: schema, instanceId, state }, signal });
      return 'created';
    } catch (error) {
      if (!(error instanceof OrreryError) || error.code !== 'entity_instance_exists') throw error;
      if (existing === 'leave') return 'left';
      const at = { path: { ...path, instanceId }, query: { entitySchema: schema }, signal };
      await orrery.put(`${INSTANCES}/{instanceId}`, { ...at, body: { state } });
      return 'replaced';
    }
  };
  const run = useMutation({
    mutationFn: async ({
      rows,
      existing,
    }: {
      rows: readonly FileRow[];
      existing: Existing;
    }): Promise<Imported> => {
      stopping.current = new AbortController();
      const counts = { created: 0, replaced: 0, left: 0 };
      const refused: string[] = [];
      const left = [...rows].reverse();
      const takeNext = async () => {
        for (let row = left.pop(); row !== undefined; row = left.pop()) {
          try {
            counts[await put(row, existing)] += 1;
          } catch (error) {
            // What is wrong with one row is no reason to stop; what is wrong with all of them is.
            if (!(error instanceof OrreryError) || error.status !== 400) throw error;
            refused.push(`${row.instanceId}: ${wordsOf(error)}`);
          }
          setDone(rows.length - left.length);
        }
      };
      setDone(0);
      await Promise.all(Array.from({ length: AT_ONCE }, takeNext)).finally(() => stopping.current.abort());
      return { ...counts, refused };
    },
    onSettled: () => readAnew([instancesKey(ref)]),
  });
  return { run, done, stop: () => stopping.current.abort() };
}
