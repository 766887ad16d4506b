/** What every command takes: environment variables, outputs for lines, and a person to ask. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: (line: string) => void;
  /** A line for people beside the output, which programs may read. */
  readonly note: (line: string) => void;
  /** Whether anybody still reads what is written; so it is where it is not said. */
  readonly isRead?: () => boolean;
  /** Asks a person. @throws StartupError where there is none */
  readonly confirm: (question: string) => Promise<boolean>;
}
