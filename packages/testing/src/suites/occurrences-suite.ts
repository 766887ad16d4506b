import { describe, expect, it } from 'vitest';

/** One sending of an occurrence: its position in the schedule, and what is sent. */
export interface Sending {
  readonly deployment: string;
  /** A due time, in milliseconds since the epoch. */
  readonly position: number;
  readonly attempt?: number;
  readonly input?: { readonly id: string };
}

type Told = { readonly state: string; readonly status?: string; readonly seq?: number };

/** What the scheduler asks of a runtime, about deployments that have one event bound. Errors have a `code`. */
export interface OccurrenceRuntime {
  deploy(): Promise<string>;
  execute(sending: Sending): Promise<Told>;
  outcomeOf(sending: Sending): Promise<Told>;
  acknowledge(sendings: readonly Sending[]): Promise<unknown>;
  pause(deployment: string): Promise<unknown>;
  unbind(deployment: string): Promise<unknown>;
  /** How often the event was executed. */
  executions(deployment: string): Promise<number>;
}

const codeOf = (refused: Promise<unknown>): Promise<unknown> =>
  refused.then(
    () => 'no error',
    (error: { code?: unknown }) => error.code,
  );

/** The promises on which schedules rely. The runtime keeps them, and so does the double in the scheduler's tests. */
export function describeOccurrences(runtime: OccurrenceRuntime): void {
  const plant = async () => {
    const deployment = await runtime.deploy();
    const at = (position: number, more: Partial<Sending> = {}): Sending => ({
      deployment,
      position,
      ...more,
    });
    return { deployment, at };
  };

  describe('a runtime, about occurrences,', () => {
    it('executes each once, and repeats its outcome', async () => {
      const { deployment, at } = await plant();
      expect(await runtime.outcomeOf(at(1))).toEqual({ state: 'unknown' });
      const first = await runtime.execute(at(1));
      expect(first).toMatchObject({ state: 'ended', status: 'succeeded' });
      expect(await runtime.execute(at(1))).toEqual(first);
      expect(await runtime.outcomeOf(at(1))).toEqual(first);
      await runtime.execute(at(1, { attempt: 2 }));
      expect(await runtime.executions(deployment)).toBe(2);
    });

    it('refuses one that was executed with another input, and still tells its outcome', async () => {
      const { deployment, at } = await plant();
      const first = await runtime.execute(at(1, { input: { id: 'a' } }));
      const other = at(1, { input: { id: 'b' } });
      expect(await codeOf(runtime.execute(other))).toBe('idempotency_key_reused');
      expect(await runtime.outcomeOf(other)).toEqual(first);
      expect(await runtime.executions(deployment)).toBe(1);
    });

    it('executes none that was acknowledged, nor one before it', async () => {
      const { deployment, at } = await plant();
      for (const position of [1000, 2000]) await runtime.execute(at(position));
      await runtime.acknowledge([at(1000), at(2000)]);
      for (const late of [at(1000), at(2000), at(2000, { attempt: 2 }), at(500)]) {
        expect(await codeOf(runtime.execute(late))).toBe('idempotency_key_reused');
        expect(await runtime.outcomeOf(late)).toEqual({ state: 'unknown' });
      }
      await runtime.execute(at(3000));
      expect(await runtime.executions(deployment)).toBe(3);
    });

    it('executes none while the deployment is paused or nothing is bound, and leaves its key free', async () => {
      const [paused, unbound] = [await plant(), await plant()];
      await runtime.pause(paused.deployment);
      expect(await codeOf(runtime.execute(paused.at(1)))).toBe('deployment_paused');
      await runtime.unbind(unbound.deployment);
      expect(await codeOf(runtime.execute(unbound.at(1)))).toBe('event_not_bound');
      for (const { at } of [paused, unbound])
        expect(await runtime.outcomeOf(at(1))).toEqual({ state: 'unknown' });
    });
  });
}
