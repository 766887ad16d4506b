import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of the kernel's clock a second, as `/proc` counts: 100 on every Linux. */
const TICKS = 100;

/** Fields of `/proc/<pid>/stat`, without the two before the name's end. */
function statOf(pid: number): { parent: number; seconds: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    // User and system time, of the process and of its children that have ended (proc(5)).
    const ticks = fields.slice(11, 15).reduce((sum, part) => sum + part, 0);
    return { parent, seconds: ticks / TICKS };
  } catch {
    return undefined;
  }
}

/** Processor time in seconds that a process and its children have taken. */
export function processorTime(pid: number): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = all.filter((name) => statOf(Number(name))?.parent === pid);
  return [pid, ...children.map(Number)].reduce((sum, one) => sum + (statOf(one)?.seconds ?? 0), 0);
}
