import { createDeployment, type Deployment } from './deployments/deployment.js';
import { createPublished, type PublishedDeployment } from './deployments/published.js';
import { createPublicExecutions, type PublicExecutions } from './public/public-executions.js';
import {
  type ItemOf,
  type ListArgument,
  type ListPath,
  type Page,
  type PaginationOf,
  pagesOf,
} from './requests/lists.js';
import type {
  AnswerOf,
  DataOf,
  InitArgument,
  Method,
  OperationOf,
  PathOf,
} from './requests/operation-types.js';
import { type ClientOptions, createRequests } from './requests/requests.js';
import {
  type CheckpointOptions,
  type CheckpointPath,
  type CoverOptions,
  isCovered,
  nextCheckpoint,
  type SignedCheckpoint,
} from './verification/follow-checkpoints.js';

/** A request by a path of openapi.json; resolves with `data` of the envelope. @throws OrreryError */
type Send<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...init: InitArgument<OperationOf<M, P>>
) => Promise<DataOf<OperationOf<M, P>>>;

export interface Orrery extends PublicExecutions {
  readonly get: Send<'get'>;
  readonly post: Send<'post'>;
  readonly put: Send<'put'>;
  readonly delete: Send<'delete'>;
  /**
   * As `get` and the others, but with the whole envelope: `message` has what the service says beside the data, `warnings`
   * are likely mistakes that it allowed, and `pagination` belongs to one page of a list. `etag` is that of a single record,
   * for the header `If-Match` of its update. @throws OrreryError
   */
  answer<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...init: InitArgument<OperationOf<M, P>>
  ): Promise<AnswerOf<OperationOf<M, P>> & { readonly etag?: string }>;
  /** All items of a list, page by page. */
  list<P extends ListPath>(path: P, ...init: ListArgument<P>): AsyncGenerator<ItemOf<P>, void, undefined>;
  /** The pages of a list with their totals, 100 items each unless `query.limit` says otherwise. */
  pages<P extends ListPath>(
    path: P,
    ...init: ListArgument<P>
  ): AsyncGenerator<Page<ItemOf<P>, PaginationOf<P>>, void, undefined>;
  /**
   * The signed checkpoint of a deployment's journal; without `worldAddress` that of a published one, without a key. With
   * `after` it is proven that the journal still begins with what that one covers.
   *
   * @throws CheckpointError where it does not, no key has signed it, or it is of another deployment; OrreryError
   */
  checkpoint(path: CheckpointPath, options: CheckpointOptions): Promise<SignedCheckpoint>;
  /**
   * Whether a checkpoint that was kept covers an entry. @throws CheckpointError where no key has signed it, or it is of another
   * deployment; OrreryError
   */
  isCovered(path: CheckpointPath, entry: CoverOptions): Promise<boolean>;
  /** A deployment, by the ids or addresses of its world and of itself. Nothing is sent. */
  deployment(world: string | number, deployment: string | number): Deployment;
  /** A published deployment by its id or address, as anyone reads it without a key. Nothing is sent. */
  published(deployment: string | number): PublishedDeployment;
}

/** A client of one server. It keeps nothing but its options. */
export function createOrrery(options: ClientOptions): Orrery {
  const requests = createRequests(options);
  const send =
    (method: Method) =>
    async (path: never, init: never): Promise<unknown> => {
      const { body } = await (requests.answer as Untyped)(method, path, init);
      return body.data;
    };
  return {
    get: send('get') as Send<'get'>,
    post: send('post') as Send<'post'>,
    put: send('put') as Send<'put'>,
    delete: send('delete') as Send<'delete'>,
    answer: async (...request) => (await requests.answer(...request)).body,
    list: async function* (path, ...[init]) {
      for await (const { data } of pagesOf(requests, path, init)) yield* data;
    },
    pages: (path, ...[init]) => pagesOf(requests, path, init),
    checkpoint: (path, options) => nextCheckpoint(requests, path, options),
    isCovered: (path, entry) => isCovered(requests, path, entry),
    deployment: (world, deployment) =>
      createDeployment(requests, { worldAddress: String(world), address: String(deployment) }),
    published: (deployment) => createPublished(requests, String(deployment)),
    ...createPublicExecutions(requests),
  };
}

type Untyped = (method: Method, path: string, init: object) => Promise<{ body: { data: unknown } }>;
