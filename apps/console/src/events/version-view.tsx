import type { JsonObject } from '@orrery/sdk';
import type { EventVersion } from '../api/records.js';
import { JsonView } from '../ui/json-view.js';
import { Card, Details } from '../ui/page.js';
import { contractRows } from './contract-rows.js';
import { guardWords, isByModel, MODE_WORDS, readWords } from './version-words.js';

export function VersionView({ version, definition }: { version: EventVersion; definition: object }) {
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
        <p className="max-w-3xl rounded-md border border-line bg-sunken px-3 py-2 break-words whitespace-pre-wrap">
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
