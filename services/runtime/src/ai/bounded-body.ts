/** A body that has more bytes than are read of it. */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/** Reads a body of at most `limit` bytes, after decompression. Of a larger one the rest is not received. @throws TooManyBytes */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  limit: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream, which closes the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw new TooManyBytes('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
