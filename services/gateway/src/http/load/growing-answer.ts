import { Readable } from 'node:stream';

/**
 * An answer that grows while its request works. Its source is read to the end however slowly the client reads, so that
 * what waits for the client is known, and that the work is over.
 */
export class GrowingAnswer extends Readable {
  /** Once its source has ended; it does not reject. */
  readonly complete: Promise<void>;
  #bytes = 0;
  #listener: (bytes: number) => void = () => undefined;

  /** `pieceBytes`: a longer chunk is written in pieces. */
  constructor(source: AsyncIterable<Uint8Array>, pieceBytes: number) {
    super({ read: () => undefined });
    this.complete = this.#take(source, pieceBytes).catch((error: Error) => void this.destroy(error));
  }

  /** Tells how many bytes it has so far, now and whenever there are more. */
  onGrowth(listener: (bytes: number) => void): void {
    this.#listener = listener;
    listener(this.#bytes);
  }

  async #take(source: AsyncIterable<Uint8Array>, pieceBytes: number): Promise<void> {
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length; at += pieceBytes) this.push(chunk.subarray(at, at + pieceBytes));
      this.#bytes += chunk.length;
      this.#listener(this.#bytes);
    }
    this.push(null);
  }
}
