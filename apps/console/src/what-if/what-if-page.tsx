import type { ReplayEstimate } from '@orrery/sdk';
import { Button } from '../ui/button.js';
import { ErrorNote, Progress } from '../ui/messages.js';
import { Section } from '../ui/page.js';
import { formatUsd } from '../ui/typed-text.js';
import { Histories } from './histories.js';
import { type Replayer, useReplay } from './replay.js';
import { WhatIfForm } from './what-if-form.js';

/** A history again with changes: which, how far it is, and both histories side by side. */
export default function WhatIfPage() {
  const replayer = useReplay();
  const { run, estimate } = replayer;
  return (
    <Section
      title="What if"
      lead="A part of the history again, with changes, in a fork that reaches nobody: no pushes, no schedules, no payments. It is deleted at the end."
    >
      <WhatIfForm isRunning={run.isPending} onReplay={(question) => run.mutate({ question })} />
      {estimate !== undefined && !run.isPending && run.data === undefined && (
        <AskFirst estimate={estimate} replayer={replayer} />
      )}
      {run.isPending && <Under replayer={replayer} />}
      <ErrorNote title="The replay could not end" error={run.error} />
      {run.data && <Histories {...run.data} />}
    </Section>
  );
}

function Under({ replayer: { progress, stop } }: { replayer: Replayer }) {
  return (
    <div className="mt-4 flex items-center gap-3">
      <div className="grow">
        <Progress
          label={
            progress === undefined
              ? 'Reading the history'
              : `${progress.done.toLocaleString('en')} of ${progress.of.toLocaleString('en')} entries are replayed`
          }
          value={progress && progress.done / progress.of}
        />
      </div>
      <Button onClick={stop}>Stop</Button>
    </div>
  );
}

/** Models cost money, so one is asked before they are. */
function AskFirst({ estimate, replayer }: { estimate: ReplayEstimate; replayer: Replayer }) {
  const { question, run } = replayer;
  return (
    <div role="status" className="mt-4 rounded-lg border border-warn/40 bg-warn-soft p-4">
      <p className="font-semibold">{costWords(estimate)}</p>
      <p className="mt-1 max-w-3xl">
        The cost is as recorded, within the budgets of the deployment and the account.
      </p>
      <Button
        look="primary"
        className="mt-3"
        onClick={() => question && run.mutate({ question, isAgreed: true })}
      >
        Ask the models
      </Button>
    </div>
  );
}

/** What models will cost, in a sentence. */
export function costWords({
  cost,
  withoutEstimate,
}: Pick<ReplayEstimate, 'cost' | 'withoutEstimate'>): string {
  const tokens = (cost.inputTokens + cost.outputTokens).toLocaleString('en');
  const usd = cost.usd === null ? '' : `, ${formatUsd(cost.usd)}`;
  const known = `Models decide ${cost.executions} executions: ${tokens} tokens${usd}.`;
  const unknown = `Models decide ${withoutEstimate} executions that they did not before.`;
  return [...(cost.executions > 0 ? [known] : []), ...(withoutEstimate > 0 ? [unknown] : [])].join(' ');
}
