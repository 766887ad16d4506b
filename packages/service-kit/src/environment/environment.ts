import { z } from 'zod';

/**
 * The service cannot start, and the operator can do something about it. The message is one line that says
 * what is wrong and what to do; it is printed as it is, so it holds no secret.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

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

const urlWith = (schemes: readonly string[], description: string) =>
  z
    .string()
    .refine((text) => schemes.some((scheme) => text.startsWith(`${scheme}://`)) && URL.canParse(text), {
      message: description,
    })
    .describe(description);

/**
 * A PostgreSQL address, or one with several hosts separated by commas. A Unix socket is written
 * `postgres:///name?host=/folder`.
 */
export const databaseUrl = z
  .string()
  .refine((text) => {
    const [, before = '', hosts = '', after = ''] =
      /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/.exec(text) ?? [];
    // Without a host, its parameters name it.
    const named = hosts === '' ? ['localhost'] : hosts.split(',');
    return before !== '' && named.every((host) => host !== '' && URL.canParse(before + host + after));
  })
  .describe('a PostgreSQL address such as postgres://user:password@host:5432/orrery');

/** A NATS address, or several separated by commas. */
export const natsUrl = z
  .string()
  .refine((text) => {
    const all = text.split(',').map((one) => one.trim());
    // A connection that is to be encrypted is so to all of them.
    const isOfOneKind = ['nats://', 'tls://'].some((kind) => all.every((one) => one.startsWith(kind)));
    return isOfOneKind && all.every((one) => URL.canParse(one));
  })
  .describe(
    'a NATS address such as nats://host:4222, or several that all begin with nats:// or all with tls://',
  );

/** A Redis address. */
export const redisUrl = urlWith(['redis', 'rediss'], 'a Redis address such as redis://host:6379');

/** An HTTP(S) address. */
export const httpUrl = urlWith(['http', 'https'], 'an http or https address');

/** A TCP port; 0 lets the system choose one. */
export const port = wholeNumber({ min: 0, max: 65_535, what: 'a port number from 0 to 65535' });

/** `true`, `1`, `yes`, `on` or `false`, `0`, `no`, `off`. */
export const flag = z
  .stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] })
  .describe('true or false');

/** A whole number within bounds; `what` completes the sentence "expected …". */
export function wholeNumber({ min, max, what }: { min: number; max: number; what?: string }) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .describe(what ?? `a whole number from ${min} to ${max}`);
}

const processEnvironment = z.object({
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('trace, debug, info, warn, error, fatal or silent'),
  LOG_FORMAT: z.enum(['json', 'text']).default('json').describe('json or text'),
  HEALTH_HOST: z.string().default('127.0.0.1').describe('the address that health and metrics listen on'),
  HEALTH_PORT: port.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_TRACES_SAMPLER: z.string().optional().describe('a sampler of OpenTelemetry'),
  OTEL_TRACES_SAMPLER_ARG: z.string().optional().describe('what the sampler takes'),
});

export type ProcessEnvironment = z.output<typeof processEnvironment>;

/** The variables that every process understands, whatever service runs in it. */
export const readProcessEnvironment = (env: Environment): ProcessEnvironment =>
  readEnvironment(processEnvironment, env);
