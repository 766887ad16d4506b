import { systemClock } from '@orrery/service-kit';
import { query } from '@orrery/testing/servers';
import { BUILT_COMMAND, type Fleet, type Member, startNode } from '@orrery/testing/system';

/** The addresses of three databases. */
export interface TwoHomes {
  /** That of the fleet's runtimes. */
  readonly first: string;
  readonly second: string;
  readonly directory: string;
}

/** A command `orrery` of a fleet, with a database as the runtime's. @returns what it has said. @throws Error where it fails */
export async function runOn(fleet: Fleet, databaseUrl: string, ...args: string[]): Promise<string> {
  await using command = startNode(
    BUILT_COMMAND,
    { ...fleet.commandEnv, DATABASE_URL: databaseUrl },
    { args },
  );
  if ((await command.exited) !== 0) throw new Error(`orrery ${args.join(' ')}: ${command.output()}`);
  return command.output();
}

const ODD = Array.from({ length: 32 }, (_, half) => String(2 * half + 1));

/**
 * Adds a home under the name 2, in which every second partition lives, to a fleet that has none of its own yet, and starts a
 * runtime for it. Resolves when all runtimes know of it.
 */
export async function addSecondHome(fleet: Fleet, { first, second, directory }: TwoHomes): Promise<Member> {
  await runOn(fleet, second, 'databases', 'add', '2');
  // In place of the seconds that an operator waits: `untilBothAreServed` says when they would be over.
  await query(directory, `update directory.databases set added_at = now() - interval '1 minute'`);
  await runOn(fleet, first, 'partitions', 'move', ...ODD, '--to-url', second);
  const member = await fleet.add('runtime', { variables: { DATABASE_URL: second } });
  await Promise.all(fleet.of('runtime').map(({ healthUrl }) => untilBothAreServed(healthUrl)));
  return member;
}

/** Until a runtime has noticed both databases and hears a process of each. */
async function untilBothAreServed(healthUrl: string): Promise<void> {
  const isServed = (metrics: string, home: string) =>
    new RegExp(`^orrery_runtime_partitions_without_owner\\{[^}]*home="${home}"[^}]*\\} 0\\b`, 'm').test(
      metrics,
    );
  for (;;) {
    const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
    if (['1', '2'].every((home) => isServed(metrics, home))) return;
    await systemClock.sleep(100);
  }
}
