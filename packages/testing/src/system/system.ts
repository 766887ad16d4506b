/** A whole Orrery that a test or a benchmark talks to over HTTP. */
export interface System extends AsyncDisposable {
  /** `all-in-one` or `five processes`. */
  readonly shape: string;
  /** Without a slash at the end. */
  readonly url: string;
  /** A key of a first account, with all scopes. */
  readonly key: string;
  readonly databaseUrl: string;
  /** Variables with which the command `orrery` finds its database. */
  readonly commandEnv: Record<string, string>;
  /** What the processes wrote. */
  output(): string;
}
