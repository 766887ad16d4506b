import fc from 'fast-check';
import type { ApiClient } from '../api-client.js';
import { story } from './arbitrary-story.js';
import { playStory } from './play-story.js';

export interface StoriesOptions {
  readonly api: ApiClient;
  readonly stories: number;
  readonly commands: number;
  /** Played side by side: many small stories keep one system busy. */
  readonly lanes: number;
  /** Each lane's seed follows from it; a failure tells the seed and the path that repeat it. */
  readonly seed: number;
}

/** Plays random stories; rejects with the smallest that shows a difference between the service and the model. */
export async function playStories({ api, stories, commands, lanes, seed }: StoriesOptions): Promise<void> {
  const property = () => fc.asyncProperty(story(commands), (one) => playStory(api, one));
  const runs = Array.from({ length: lanes }, (_, lane) =>
    fc.assert(property(), { numRuns: Math.ceil(stories / lanes), seed: seed + lane }),
  );
  const failed = (await Promise.allSettled(runs)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
