/** The part of `fetch` that is used: undici's types of the same things are its own. */
type Fetch = (url: string, init: never) => Promise<Fetched>;

interface Fetched {
  readonly status: number;
  readonly headers: Iterable<[string, string]>;
  readonly body: AsyncIterable<Uint8Array> | null;
}

export interface Bounds {
  /** Of a body, after decompression. */
  readonly mostBytes: number;
  /** What a larger body is refused with. */
  readonly tooLarge: (status: number) => Error;
}

/** Statuses of responses without a body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * Reads the whole body, so that the limit of bytes and the timeout cover it. Redirects are not followed: what a request
 * carries, a key or a payment, is sent nowhere else.
 */
export const boundedFetch =
  (fetch: Fetch, { mostBytes, tooLarge }: Bounds) =>
  async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { status, headers, body } = await fetch(String(url), { ...init, redirect: 'manual' } as never);
    const read = BODILESS.has(status) ? null : await readBounded(body, mostBytes, () => tooLarge(status));
    return new Response(read, { status, headers: [...headers] });
  };

/** Reads a body. Of a larger one the rest is not received. @throws what `tooLarge` makes */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  mostBytes: number,
  tooLarge: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream, which closes the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
