import { describeWithNats } from '@orrery/testing';
import type { Fleet } from '@orrery/testing/system';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { type CountedLoad, createCountedLoad } from '../src/homes/counted-load.js';
import { heldBy, leftByMoves, orderOf, ownerAt } from '../src/homes/look-at-homes.js';
import { type Home, type Homes, startHomes } from '../src/homes/start-homes.js';
import { STEPS, type Step, startMover } from '../src/homes/start-mover.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { count } from '../src/worlds/counter-world.js';
import { counting, type MadeDeployment, makeWorld } from '../src/worlds/make-world.js';

const VICTIMS = ['mover', 'source', 'target', 'owner'] as const;
type Victim = (typeof VICTIMS)[number];
const steps = Object.keys(STEPS) as Step[];
/** In every second case in which the move may still be undone the operator wants it back. */
const isToBeUndone = (step: number, victim: number): boolean =>
  step < steps.indexOf('switched') && VICTIMS[victim] !== 'owner' && (step + victim) % 2 === 1;
const cases = steps.flatMap((step, at) =>
  VICTIMS.map((victim, number) => {
    const abort = isToBeUndone(at, number);
    return { step, victim, abort, ending: abort ? 'then --abort' : 'then once more' };
  }),
);

/**
 * A partition moves to and fro between two servers while its deployments are executed. In each case one of those who take part
 * dies right after a step, and an operator does what the command has told. A case begins where the one before has ended.
 */
describeWithNats(
  'a partition that moves while those who take part are killed',
  () => {
    let system: Homes;
    let load: CountedLoad;
    let partition = 0;
    beforeAll(async () => {
      let moving: MadeDeployment[] = [];
      system = await startHomes(async (fleet) => {
        moving = await deployments(fleet);
      });
      partition = (moving[0]?.id ?? 0) % 64;
      load = createCountedLoad(apiClient(system.fleet.url, system.fleet.key), moving);
    });
    afterAll(async () => {
      await load?.pause().catch(() => undefined);
      await system?.[Symbol.asyncDispose]();
    });

    const owner = async (source: Home, target: Home, step: Step) => {
      if (steps.indexOf(step) >= steps.indexOf('fenced'))
        return { home: target, runtime: (await ownerAt(target, partition)) ?? target.runtimes[0] };
      const runtime = await vi.waitFor(async () => {
        const found = await ownerAt(source, partition);
        expect(found).toBeDefined();
        return found;
      });
      return { home: source, runtime };
    };

    /** Kills another one than the mover. @returns what starts it again */
    const kill = async (victim: Exclude<Victim, 'mover'>, source: Home, target: Home, step: Step) => {
      if (victim === 'owner') {
        const { home, runtime } = await owner(source, target, step);
        if (runtime === undefined) throw new Error('no runtime at the target');
        await home.kill(runtime);
        return home.start;
      }
      const { server } = victim === 'source' ? source : target;
      server.kill();
      return server.restart;
    };

    /** The mover is stopped at the step; it or another one dies, and the mover ends as it can. @returns whether it has moved all */
    const interrupt = async (victim: Victim, source: Home, target: Home, step: Step): Promise<boolean> => {
      const plan = { partition, targetUrl: target.server.url, step };
      await using mover = await startMover(source.commandEnv, plan);
      if (victim === 'mover') {
        await mover.kill();
        return false;
      }
      const restart = await kill(victim, source, target, step);
      const [code] = await Promise.all([mover.goOn(), restart()]);
      if (code !== 0) expect(mover.output()).toContain('run it again');
      return code === 0;
    };

    const succeed = async (home: Home, ...args: string[]) => {
      const { failed, stderr } = await home.orrery('partitions', 'move', String(partition), ...args);
      expect(failed ? stderr : '').toBe('');
    };

    /** @returns false where the move was over before somebody died: then it cannot be undone */
    const undo = async (home: Home, to: string[]): Promise<boolean> => {
      const { failed, stderr } = await home.orrery('partitions', 'move', String(partition), ...to, '--abort');
      if (failed) expect(stderr).toMatch(/has moved: move it back instead/);
      return !failed;
    };

    /** A case that fails leaves its partition where it is, perhaps without owner: those after it would wait for nothing. */
    let hasFailed = false;
    afterEach(({ task }) => {
      hasFailed ||= task.result?.state === 'fail';
    });

    it.for(cases)('$victim killed after $step, $ending', async ({ victim, step, abort }, { skip }) => {
      skip(hasFailed, 'a case before it has failed');
      const began = performance.now();
      const [source, target] = await orderOf(system.homes, system.directoryUrl, partition);
      const to = ['--to-url', target.server.url];
      load.resume();
      await load.answered(1);
      const isOver = await interrupt(victim, source, target, step);
      const isUndone = abort && !isOver && (await undo(source, to));
      if (!isUndone) await succeed(source, ...to);
      await load.answered(2);

      const [home, other] = await orderOf(system.homes, system.directoryUrl, partition);
      expect(home).toBe(isUndone ? source : target);
      expect(await heldBy(home, partition)).toEqual({ lives: true, deployments: 2, departed: 0 });
      expect(await heldBy(other, partition)).toMatchObject({ lives: false, deployments: 0 });
      expect([await leftByMoves(source), await leftByMoves(target)]).toEqual([[], []]);
      await load.pause();
      expect(await load.problems()).toEqual([]);
      if (!isUndone) await succeed(source, ...to, '--clean');
      expect(await heldBy(other, partition)).toEqual({ lives: false, deployments: 0, departed: 0 });
      const ms = Math.round(performance.now() - began);
      process.stdout.write(
        `${victim} after ${step}: ${isUndone ? 'undone' : 'moved'}, ${ms} ms, ${load.longestPauseMs()} ms without an answer\n`,
      );
    });

    it('whatever was killed, both databases hold what must hold', async () => {
      process.stdout.write(`${load.executions()} executions\n`);
      for (const { server } of system.homes) expect(await findViolations(server.url)).toEqual([]);
    });
  },
  { own: true },
);

/** Two deployments of one partition, then one of another. */
async function deployments(fleet: Fleet): Promise<MadeDeployment[]> {
  const schemas = [counting('counter', 'value')];
  const world = await makeWorld(apiClient(fleet.url, fleet.key), {
    name: 'Counting',
    schemas,
    events: [count],
  });
  const made: MadeDeployment[] = [];
  for (;;) {
    const one = await world.deploy();
    const other = made.find(({ id }) => id % 64 === one.id % 64);
    const third = made.find(({ id }) => id % 64 !== one.id % 64);
    if (other !== undefined && third !== undefined) return [other, one, third];
    made.push(one);
  }
}
