/** What the address of the page names. */
export interface Place {
  /** A deployment, by its address or id; undefined: none is named. */
  readonly deployment: string | undefined;
  /** The page stands in a frame of another one: it shows, and does nothing. */
  readonly isEmbedded: boolean;
  /** The entry after which the world is shown; undefined: as it is now. */
  readonly seq: number | undefined;
}

const PATH = /^\/play\/([^/]+)(\/embed)?\/?$/;
/** The largest number of an entry that is exact. */
const SEQ = /^[1-9]\d{0,14}$/;

export function placeOf({ pathname, search }: Pick<URL, 'pathname' | 'search'>): Place {
  const [, deployment, embed] = PATH.exec(pathname) ?? [];
  const seq = new URLSearchParams(search).get('seq') ?? '';
  return {
    deployment: deployment === undefined ? undefined : decoded(deployment),
    isEmbedded: embed !== undefined,
    seq: SEQ.test(seq) ? Number(seq) : undefined,
  };
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The address of a moment, or of now, below the origin. */
export const pathTo = (deployment: string, seq?: number, isEmbedded = false): string =>
  `/play/${encodeURIComponent(deployment)}${isEmbedded ? '/embed' : ''}${seq === undefined ? '' : `?seq=${seq}`}`;
