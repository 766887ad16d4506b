/** A whole Orrery that a test or a benchmark talks to over HTTP. */
export interface System extends AsyncDisposable {
  /** `all-in-one` or `five processes`. */
  readonly shape: string;
  /** Without a slash at the end. */
  readonly url: string;
  /** A key of a first account, with all scopes. */
  readonly key: string;
  readonly databaseUrl: string;
  /** Variables for the command `orrery`: where its database is, and its server if the system is not in a folder of its own. */
  readonly commandEnv: Record<string, string>;
  /** What the processes wrote. */
  output(): string;
}
