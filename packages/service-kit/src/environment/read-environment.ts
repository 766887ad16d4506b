import type { z } from 'zod';
import { StartupError } from './startup-error.js';

/** What `process.env` looks like. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables are missing or not valid: one phrase for each. */
export class EnvironmentError extends StartupError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Correct these environment variables and start again: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

/**
 * Reads a service's variables. An empty string counts as absent. All problems are reported at once, with
 * the description of each variable and never with its value, which may be a secret.
 *
 * @throws EnvironmentError naming each variable that is missing or not valid, and what is expected.
 */
export function readEnvironment<Shape extends z.core.$ZodLooseShape>(
  schema: z.ZodObject<Shape>,
  env: Environment,
): z.output<z.ZodObject<Shape>> {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(present);
  if (parsed.success) return parsed.data;
  const names = new Set(parsed.error.issues.map((issue) => String(issue.path[0] ?? 'the environment')));
  throw new EnvironmentError([...names].map((name) => problemOf(name, schema, present, parsed.error.issues)));
}

/**
 * Reads several groups of variables, each by its own reader, and reports the problems of all of them at once.
 * @throws EnvironmentError; another reader's error only when no variable is wrong.
 */
export function readTogether<T extends object>(readers: { readonly [Name in keyof T]: () => T[Name] }): T {
  const read: Partial<T> = {};
  const failures: unknown[] = [];
  for (const name of Object.keys(readers) as (keyof T)[]) {
    try {
      read[name] = readers[name]();
    } catch (error) {
      failures.push(error);
    }
  }
  const problems = failures.flatMap((error) => (error instanceof EnvironmentError ? error.problems : []));
  if (problems.length > 0) throw new EnvironmentError([...new Set(problems)]);
  if (failures.length > 0) throw failures[0];
  return read as T;
}

function problemOf(
  name: string,
  schema: z.ZodObject,
  present: Record<string, unknown>,
  issues: readonly z.core.$ZodIssue[],
): string {
  const state = name in present ? 'not valid' : 'missing';
  const expected =
    descriptionOf(schema.shape[name]) ?? issues.find((issue) => issue.path[0] === name)?.message;
  return expected === undefined ? `${name} (${state})` : `${name} (${state}; expected ${expected})`;
}

/** A description stays on the schema it was given to: look below `.optional()`, `.default()` and transforms. */
function descriptionOf(schema: z.core.$ZodType | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const described = schema as z.core.$ZodType & { description?: string };
  const def = schema._zod.def as { innerType?: z.core.$ZodType; in?: z.core.$ZodType };
  return described.description ?? descriptionOf(def.innerType ?? def.in);
}
