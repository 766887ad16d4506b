import { inspect, parseArgs } from 'node:util';

type Defaults = Readonly<Record<string, number | boolean>>;
/** The options by their names, and where the measurement's lines go. */
export type Given<D extends Defaults> = {
  readonly [Name in keyof D]: D[Name] extends boolean ? boolean : number;
} & {
  readonly write: (line: string) => void;
};

/** Measures with what the command line gives, or its defaults. The process fails with what is thrown. */
export async function runMeasurement<const D extends Defaults>(
  defaults: D,
  measure: (given: Given<D>) => Promise<void>,
): Promise<void> {
  try {
    const all = Object.entries(defaults);
    const options = Object.fromEntries(
      all.map(([name, value]) => [
        name,
        { type: value === false ? ('boolean' as const) : ('string' as const) },
      ]),
    );
    const { values } = parseArgs({ options });
    const read = ([name, value]: (typeof all)[number]) => [
      name,
      typeof value === 'number' ? Number(values[name] ?? value) : values[name] === true,
    ];
    const write = (line: string) => void process.stdout.write(`${line}\n`);
    await measure({ ...Object.fromEntries(all.map(read)), write } as Given<D>);
  } catch (error) {
    process.stderr.write(`${inspect(error)}\n`);
    process.exitCode = 1;
  }
}
