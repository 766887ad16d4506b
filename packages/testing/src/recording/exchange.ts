type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A request and its answer, as a server's process had them. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Headers;
  readonly body: string;
  readonly answer: {
    readonly status: number;
    /** By lower-case name; without those that Node adds. */
    readonly headers: Headers;
    readonly body: string;
  };
}
