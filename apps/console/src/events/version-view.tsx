import type { JsonObject } from '@orrery/sdk';
import type { ReactNode } from 'react';
import type { EventVersion } from '../api/records.js';
import { JsonView } from '../ui/json-view.js';
import { Card, Details } from '../ui/page.js';
import { contractRows } from './contract-rows.js';
import { guardWords, isByModel, MODE_WORDS, readWords } from './version-words.js';

export function VersionView({ version, definition }: { version: EventVersion; definition: object }) {
  return (
    <Card>
      <Details
        items={{
          Input: <Contract contract={version.inputSchema} none="Any input." />,
          Reads: <Reads reads={version.readEntities} />,
          'May change': <Modes modes={version.stateChanges} />,
          'What decides': <Decision version={version} />,
          Guards: <GuardList version={version} />,
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

const Reads = ({ reads }: { reads: EventVersion['readEntities'] }) =>
  reads.length === 0 ? (
    'Nothing: it sees its input alone.'
  ) : (
    <Lines>
      {reads.map((read) => (
        <li key={JSON.stringify(read)}>
          <span className="font-medium">{read.schema}</span>: {readWords(read)}
        </li>
      ))}
    </Lines>
  );

function Modes({ modes }: { modes: EventVersion['stateChanges'] }) {
  if (modes === null) return `Every schema of the world, ${MODE_WORDS.partial}.`;
  const entries = Object.entries(modes);
  if (entries.length === 0) return 'Nothing.';
  return (
    <Lines>
      {entries.map(([schema, mode]) => (
        <li key={schema}>
          <span className="font-medium">{schema}</span>: {mode}, {MODE_WORDS[mode]}
        </li>
      ))}
    </Lines>
  );
}

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
        <p className="max-w-3xl rounded-md border border-line bg-sunken px-3 py-2 break-words whitespace-pre-wrap">
          {prompt}
        </p>
      ) : (
        <p className="text-muted">Only its owner sees it.</p>
      )}
    </>
  );
}

function GuardList({ version }: { version: EventVersion }) {
  const words = guardWords(version.guards, isByModel(version));
  if (words.length === 0) return 'None beyond the constraints of the attributes.';
  return (
    <Lines>
      {words.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </Lines>
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

const Lines = ({ children }: { children: ReactNode }) => <ul className="space-y-0.5">{children}</ul>;
