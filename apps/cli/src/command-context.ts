/** What every command gets: its variables and where its lines go. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: (line: string) => void;
}
