type Headers = Readonly<Record<string, string | readonly string[]>>;

/** An HTTP request and its answer, as the server's process saw them. */
export interface Exchange {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Headers;
  readonly body: string;
  readonly answer: {
    readonly status: number;
    /** By lower-case name, without those that Node adds. */
    readonly headers: Headers;
    readonly body: string;
  };
}
