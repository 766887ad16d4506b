import type { JsonObject, VersionDefinition } from '@orrery/contracts';
import { applyMutation, compileDefinition, readForExecution } from '@orrery/deciding';
import { entities, executionOf, raceDefinition, viewOf } from '@orrery/deciding/test-support';
import { type Clock, createLogger, systemClock } from '@orrery/service-kit';
import { modelAt, world } from '../src/core/prompting/ai.test-support.js';
import type { Evidence, Model, ModelExchange, ModelUsage } from '../src/core/prompting/model.js';
import { DeciderFailed, type DeciderRequest } from '../src/core/prompting/model.js';
import { createModelDecider } from '../src/runs/asking/model-decider.js';

/** The time that a model's server has, in milliseconds: on a `hastyClock` it is over when a test says so. */
const TIMEOUT_MS = 60_000;

/** Waits between retries are skipped and noted; deadlines are real. `pass` moves the time. */
export function hastyClock() {
  const skipped: number[] = [];
  let passed = 0;
  let waiting: (() => void)[] = [];
  const clock: Clock = {
    now: () => systemClock.now() + passed,
    monotonic: () => systemClock.monotonic() + passed,
    sleep: (ms, signal) => {
      if (ms === TIMEOUT_MS) return new Promise((resolve) => waiting.push(resolve));
      if (ms > 10_000) return systemClock.sleep(ms, signal);
      skipped.push(ms);
      return Promise.resolve();
    },
  };
  /** The time of all requests under way is over. */
  const timeOut = () => {
    for (const wake of waiting) wake();
    waiting = [];
  };
  const pass = (ms: number) => {
    passed += ms;
  };
  return { ...clock, skipped, timeOut, pass };
}

/** A budget that notes what is reserved and settled. */
function openBudget() {
  const reserved: ModelUsage[] = [];
  const settled: ModelUsage[] = [];
  return {
    reserved,
    settled,
    reserve: async (most: ModelUsage) => {
      reserved.push(most);
      return { settle: async (actual: ModelUsage) => void settled.push(actual) };
    },
  };
}

interface QuestionParts {
  readonly model?: Partial<Model>;
  readonly definition?: VersionDefinition;
  readonly input?: JsonObject;
  readonly deadlineMs?: number;
  readonly budget?: DeciderRequest['budget'];
  readonly executionId?: string;
  readonly deployment?: string;
  readonly world?: DeciderRequest['world'];
  readonly accountId?: number;
  readonly isHolding?: boolean;
  readonly check?: DeciderRequest['check'];
}

interface Outcome {
  /** `proposed`, the code of the error, or its message where it has no code. */
  readonly code: string;
  readonly mutation?: JsonObject;
  readonly cause?: { readonly code?: string; readonly message: string; readonly facts?: JsonObject };
  readonly evidence: Partial<Evidence>;
}

/** A decider, and executions for it that are checked as the runtime checks them. */
export function askingAt(
  baseUrl: string,
  { clock = hastyClock() as Clock, callsPerDeployment = Number.POSITIVE_INFINITY } = {},
) {
  const logged: unknown[] = [];
  const logger = createLogger({ service: 'test', level: 'silent' });
  logger.warn = ((facts: unknown) => void logged.push(facts)) as typeof logger.warn;
  const decider = createModelDecider({ clock, logger, callsPerDeployment });
  const ask = async (parts: QuestionParts = {}, signal: AbortSignal = new AbortController().signal) => {
    const { definition = raceDefinition(), input = {}, deadlineMs = 30_000 } = parts;
    const budget = openBudget();
    const view = viewOf(entities as never);
    const execution = { ...executionOf({}, input), definition: compileDefinition(definition) };
    const found = readForExecution(execution, view);
    if (found.kind !== 'read') throw new Error(JSON.stringify(found));
    const request: DeciderRequest = {
      executionId: parts.executionId ?? 'e1',
      deployment: { address: parts.deployment ?? '0x1', worldAddress: '0x2' },
      accountId: parts.accountId ?? 1,
      isHolding: parts.isHolding ?? false,
      definition,
      world: parts.world ?? world,
      model: modelAt(baseUrl, { timeoutMs: TIMEOUT_MS, ...parts.model }),
      input,
      entities: found.read.entities,
      deadline: clock.monotonic() + deadlineMs,
      check:
        parts.check ??
        (async (mutation) => {
          const decision = applyMutation(execution, found.read, mutation, view);
          return decision.kind === 'failed' ? { reason: decision.error.message } : undefined;
        }),
      budget: parts.budget ?? budget,
    };
    const outcome = await decider(request, signal).then(
      (answer): Outcome => ({ code: 'proposed', mutation: answer.mutation, evidence: answer }),
      (error: unknown): Outcome => {
        if (!(error instanceof DeciderFailed)) throw error;
        const cause = error.cause as NonNullable<Outcome['cause']>;
        return { code: cause.code ?? cause.message, cause, evidence: error.evidence };
      },
    );
    const llm = (outcome.evidence.llm ?? undefined) as unknown as ModelExchange | undefined;
    return { ...outcome, llm, faults: llm?.attempts.map(({ error }) => error) ?? [], ...budget };
  };
  return { ask, logged, clock };
}
