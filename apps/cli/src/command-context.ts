/** What every command takes: environment variables and an output for lines. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: (line: string) => void;
}
