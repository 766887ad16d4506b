import type { JsonObject } from '@orrery/sdk';
import type { ReactNode } from 'react';
import { EntryLink } from '../deployments/entry-link.js';
import { VERSION_LABELS } from '../events/version-words.js';
import { JsonView } from '../ui/json-view.js';
import { ErrorNote, labelAt, partWords } from '../ui/messages.js';
import { Card, Details } from '../ui/page.js';
import { isUndecided } from '../ui/undecided.js';
import { Badge, CopyableCode, Time } from '../ui/values.js';
import { ChangeTable } from './changes.js';
import { ExchangeView } from './exchange.js';
import { failedEntryOf, llmOfError, type Outcome } from './execute.js';

export function OutcomeView({ outcome }: { outcome: Outcome }) {
  const { answer, before, unread } = outcome;
  const llm = outcome.kind === 'dry run' ? outcome.answer.llm : (outcome.entry?.llm ?? null);
  return (
    <Card className="grid grid-cols-1 gap-4">
      {outcome.kind === 'dry run' ? (
        <Tried
          what={outcome.isDraft ? 'The version as it is typed' : `Version ${answer.eventVersion}`}
          isAi={llm !== null}
        />
      ) : (
        <Done {...outcome} />
      )}
      {unread !== null && (
        <ErrorNote error={unread} title="What was before, and the entry itself, could not be read" />
      )}
      <Part title={outcome.kind === 'dry run' ? 'What would change' : 'What has changed'}>
        <ChangeTable stateChanges={answer.stateChanges} before={before} />
      </Part>
      {answer.result !== null && (
        <Part title="Result">
          <JsonView label="Result" value={answer.result} />
        </Part>
      )}
      <Model llm={llm} />
    </Card>
  );
}

const Model = ({ llm }: { llm: JsonObject | null }) =>
  llm !== null && (
    <Part title="The model">
      <ExchangeView llm={llm} />
    </Part>
  );

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <h2 className="mb-1.5 font-semibold">{title}</h2>
    {children}
  </div>
);

const Tried = ({ what, isAi }: { what: string; isAi: boolean }) => (
  <div>
    <p className="flex flex-wrap items-center gap-2">
      <Badge tone="warn">dry run</Badge> Nothing was committed. {what} would do this.
    </p>
    {isAi && (
      <p className="mt-1 text-sm text-muted">
        When you execute, the model is asked again and may answer otherwise.
      </p>
    )}
  </div>
);

function Done({ answer, entry }: Extract<Outcome, { kind: 'execution' }>) {
  return (
    <div className="grid grid-cols-1 gap-2">
      <p className="flex flex-wrap items-center gap-2" role="status">
        <Badge tone="ok">executed</Badge>{' '}
        <EntryLink seq={answer.seq}>{`Entry ${answer.seq} in the live page`}</EntryLink>
      </p>
      <Details
        items={{
          ...(entry && { When: <Time at={entry.executedAt} />, Took: `${entry.durationMs ?? '–'} ms` }),
          Version: `${answer.event} v${answer.eventVersion}`,
          Hash: entry ? <CopyableCode text={entry.hash} what="hash of the entry" short /> : undefined,
          'Pushed to': answer.pushes.map(({ chain }) => chain).join(', ') || undefined,
        }}
      />
    </div>
  );
}

interface FailureProps {
  error: unknown;
  kind: Outcome['kind'];
  /** Pointers into the request that the form shows. */
  inForm: (pointer: string) => boolean;
}

export function FailureView({ error, kind, inForm }: FailureProps) {
  const seq = failedEntryOf(error);
  const llm = llmOfError(error);
  return (
    <Card className="grid grid-cols-1 gap-3">
      <ErrorNote
        error={error}
        title={kind === 'dry run' ? 'The dry run failed' : 'The execution failed'}
        shownElsewhere={inForm}
        nameOf={nameOf}
      />
      {seq !== undefined && (
        <p>
          Nothing was changed. The history keeps the attempt:{' '}
          <EntryLink seq={seq}>{`entry ${seq}`}</EntryLink>.
        </p>
      )}
      {isUndecided(error) && (
        <p>
          Whether it was executed is not known. Execute it again with the same input: it has the same key, so
          it happens once.
        </p>
      )}
      <Model llm={llm} />
    </Card>
  );
}

/** A part of the input, of the version that was run or is not saved yet, or of an instance as it would have become. */
function nameOf(pointer: string): string | undefined {
  if (/^\/input(\/|$)/.test(pointer)) return partWords(pointer.slice('/input'.length)) ?? 'Input';
  const part = pointer.replace(/^\/definition(?=\/)/, '');
  return labelAt(VERSION_LABELS, part) ?? partWords(part);
}
