import { inspect, parseArgs } from 'node:util';

/** Numbers of a command line by the names of their options, and where the measurement's lines go. */
type Given<Name extends string> = Readonly<Record<Name, number>> & { readonly write: (line: string) => void };

/** Measures with the numbers that the command line gives, or their defaults. The process fails with what is thrown. */
export async function runMeasurement<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
  measure: (given: Given<Name>) => Promise<void>,
): Promise<void> {
  try {
    const names = Object.keys(defaults) as Name[];
    const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
    const values = parseArgs({ options }).values as Partial<Record<Name, string>>;
    const numbers = names.map((name) => [name, Number(values[name] ?? defaults[name])]);
    const write = (line: string) => void process.stdout.write(`${line}\n`);
    await measure({ ...(Object.fromEntries(numbers) as Record<Name, number>), write });
  } catch (error) {
    process.stderr.write(`${inspect(error)}\n`);
    process.exitCode = 1;
  }
}
