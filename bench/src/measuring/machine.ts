import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Ticks of the kernel's clock a second, as `/proc` counts: 100 on every Linux. */
const TICKS = 100;

/** What the machine did in a while. */
export interface MachineUse {
  /** Of all processors, from 0 to 1. */
  readonly idleShare: number;
  /** Processor time by program, in seconds, of the programs that are compared, took any and still run. */
  readonly seconds: Readonly<Record<string, number>>;
}

const COMPARED = new Set([
  ...['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher', 'standalone', 'nats-server', 'postgres'],
  ...['restate-server', 'restate-counter.mjs', 'dbos-counter.mjs', 'pgbench', 'wrk'],
]);

const REMEMBERED = new Set(['nats-server', 'postgres']);

/** Begins to watch; the function that it answers says what the machine did since. */
export function watchMachine(): () => MachineUse {
  const [before, processors] = [processTimes(), processorTimes()];
  return () => {
    const after = processorTimes();
    const seconds: Record<string, number> = {};
    for (const [pid, { program, time }] of processTimes()) {
      const took = time - (before.get(pid)?.time ?? 0);
      if (took > 0 && COMPARED.has(program)) seconds[program] = (seconds[program] ?? 0) + took;
    }
    return { idleShare: (after.idle - processors.idle) / (after.all - processors.all), seconds };
  };
}

/** Of all processors together (proc(5), `/proc/stat`); what waits for a disk is idle too. */
function processorTimes(): { idle: number; all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const times = line.split(/\s+/).slice(1, 9).map(Number);
  const [, , , idle = 0, waiting = 0] = times;
  return { idle: idle + waiting, all: times.reduce((sum, time) => sum + time, 0) };
}

/**
 * The memory of NATS and PostgreSQL that belongs to each process alone (`RssAnon`, proc(5)), in bytes. Shared buffers are not
 * in it, since they fill up, nor is autovacuum, whose workers come and go with some 30 MB each.
 */
export function memoryByProgram(): Record<string, number> {
  const bytes: Record<string, number> = {};
  for (const name of processes()) {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      const program = programOf(command.split('\0'));
      const [, kibibytes] = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${name}/status`, 'utf8')) ?? [];
      if (REMEMBERED.has(program) && !command.includes('autovacuum worker'))
        bytes[program] = (bytes[program] ?? 0) + Number(kibibytes) * 1024;
    } catch {
      // It has ended meanwhile.
    }
  }
  return bytes;
}

const processes = () => readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));

function processTimes(): Map<number, { program: string; time: number }> {
  const times = new Map<number, { program: string; time: number }>();
  for (const name of processes()) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // User and system time: fields 14 and 15, the twelfth and thirteenth behind the program's name (proc(5)).
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .map(Number);
      const program = programOf(readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0'));
      times.set(Number(name), { program, time: ((user ?? 0) + (system ?? 0)) / TICKS });
    } catch {
      // It has ended meanwhile.
    }
  }
  return times;
}

/** `runtime` for Node running `services/runtime/dist/main.js`, else the program's own name. */
function programOf([command = '', ...args]: readonly string[]): string {
  const script = args.find((arg) => /\.m?js$/.test(arg));
  const workspace = /(?:services|apps)\/([^/]+)\//.exec(script ?? '')?.[1];
  // PostgreSQL's processes name what they do: `postgres: walwriter`.
  return workspace ?? basename(script ?? command.replace(/:.*/, ''));
}
