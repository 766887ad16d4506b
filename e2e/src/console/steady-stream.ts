import type { Deployment, JsonObject } from '@orrery/sdk';
import { systemClock } from '@orrery/service-kit';

/** Executions at a steady rate, each of which takes effect once, also where the server dies meanwhile. */
export interface SteadyStream {
  /** Answered with success. */
  count(): number;
  /** Lets what is under way end. @throws the first refusal */
  end(): Promise<void>;
}

interface StreamOptions {
  readonly perSecond: number;
  readonly inputOf: (number: number) => JsonObject;
}

/** Executions that wait for an answer; while there are so many none is added. */
const MOST_UNDER_WAY = 200;
const TURN_MS = 50;

export function startSteadyStream(
  deployment: Deployment,
  event: string,
  { perSecond, inputOf }: StreamOptions,
): SteadyStream {
  const underWay = new Set<Promise<void>>();
  let [sent, done, isEnding] = [0, 0, false];
  let failed: unknown;
  const execute = async () => {
    sent += 1;
    const number = sent;
    await deployment.execute({ event, input: inputOf(number) }, { idempotencyKey: `stream ${number}` });
    done += 1;
  };
  const begin = () => {
    const one: Promise<void> = execute()
      .catch((error: unknown) => {
        failed ??= error;
      })
      .finally(() => underWay.delete(one));
    underWay.add(one);
  };
  const running = (async () => {
    const begun = systemClock.monotonic();
    // What could not be sent in time, as while the server is away, is not sent later.
    let missed = 0;
    while (!isEnding) {
      const due = ((systemClock.monotonic() - begun) / 1000) * perSecond - missed;
      while (sent < due && underWay.size < MOST_UNDER_WAY) begin();
      missed += Math.max(0, due - sent);
      await systemClock.sleep(TURN_MS);
    }
    await Promise.all(underWay);
  })();
  return {
    count: () => done,
    end: async () => {
      isEnding = true;
      await running;
      if (failed !== undefined) throw failed;
    },
  };
}
