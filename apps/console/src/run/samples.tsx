import type { Orrery } from '@orrery/sdk';
import { OrreryError } from '@orrery/sdk';
import type { DeploymentRef } from '../api/records.js';
import { Card } from '../ui/page.js';
import { Badge } from '../ui/values.js';
import { ExchangeView } from './exchange.js';
import { llmOfError, type Otherwise, type Request } from './execute.js';
import type { Sample } from './proposals.js';
import { SampleTable } from './sample-table.js';

/** How many samples one may ask for: each costs what an execution costs. */
export const SAMPLE_COUNTS = ['1', '3', '5', '10', '20'] as const;
export type SampleCount = (typeof SAMPLE_COUNTS)[number];

/** Requests at once: a model of the operator's own has not many seats. */
const AT_ONCE = 2;

export interface SamplesOptions {
  readonly times: number;
  readonly otherwise: Otherwise;
  readonly signal: AbortSignal;
  readonly onDone: (done: number) => void;
}

/** Dry runs of one request. One that gave no valid proposal is a sample too. @throws OrreryError for what says nothing of a proposal */
export async function takeSamples(
  orrery: Orrery,
  ref: DeploymentRef,
  request: Request,
  { times, otherwise, signal, onDone }: SamplesOptions,
): Promise<Sample[]> {
  const deployment = orrery.deployment(ref.world, ref.deployment);
  const samples: Sample[] = [];
  let next = 0;
  const takeNext = async (): Promise<void> => {
    while (next < times) {
      const at = next;
      next += 1;
      const answer = await deployment.dryRun(request, { ...otherwise, signal }).catch(failedSample);
      samples[at] = { error: null, ...answer, name: String(at + 1) };
      onDone(samples.filter(Boolean).length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, takeNext));
  return samples;
}

function failedSample(error: unknown): Omit<Sample, 'name'> {
  const llm = llmOfError(error);
  if (!(error instanceof OrreryError) || llm === null) throw error;
  return { stateChanges: {}, result: null, llm, error: { code: error.code, detail: error.message } };
}

export function SamplesView({ samples }: { samples: readonly Sample[] }) {
  const valid = samples.filter(({ error }) => error === null).length;
  return (
    <Card className="grid grid-cols-1 gap-4">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone="warn">dry runs</Badge> Nothing was committed. {valid} of {samples.length} gave a valid
        proposal.
      </p>
      <SampleTable samples={samples} />
      {samples.map(({ name, llm, error }) => (
        <details key={name}>
          <summary className="font-medium">
            Prompt and answer of sample {name}
            {error && <span className="font-normal text-bad"> {error.code}</span>}
          </summary>
          <div className="mt-2 grid grid-cols-1 gap-2">
            {error && <p>{error.detail}</p>}
            <ExchangeView llm={llm} />
          </div>
        </details>
      ))}
    </Card>
  );
}
