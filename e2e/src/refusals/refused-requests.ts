import type { RefusalPaths } from './refusal-world.js';

/** A request below the world or the deployment that is refused before anything is read or written. */
export interface RefusedRequest {
  what: string;
  method: string;
  path: (paths: RefusalPaths) => string;
  body?: unknown;
  headers?: Record<string, string>;
  status: number;
  code: string;
  /** Where in the body the first problem lies. */
  pointer?: string;
}

type Rest = readonly [status: number, code: string, pointer?: string];

function request(method: string, path: RefusedRequest['path']) {
  return (what: string, body: unknown, [status, code, pointer]: Rest, headers?: Record<string, string>) => ({
    what,
    method,
    path,
    status,
    code,
    ...(body === undefined ? {} : { body }),
    ...(pointer === undefined ? {} : { pointer }),
    ...(headers === undefined ? {} : { headers }),
  });
}

const below =
  (rest: string): RefusedRequest['path'] =>
  ({ deployment }) =>
    `${deployment}${rest}`;
const deployments: RefusedRequest['path'] = ({ world }) => `${world}/deployments`;

const execute = request('POST', below('/execute'));
const addBindings = request('POST', below('/event-bindings'));
const changeBindings = request('PUT', below('/event-bindings'));
const deploy = request('POST', deployments);
const create = request('POST', below('/entity-instances'));
const replace = request('PUT', below('/entity-instances/A'));
const get = (rest: string, what: string, answer: Rest) =>
  request('GET', below(rest))(what, undefined, answer);
const remove = (rest: string, what: string, answer: Rest) =>
  request('DELETE', below(rest))(what, undefined, answer);

const invalid = (pointer?: string): Rest =>
  pointer === undefined ? [400, 'validation_failed'] : [400, 'validation_failed', pointer];
const twice = [
  { event: 'fine', eventVersion: 1 },
  { event: 'fine', eventVersion: 1 },
];
const named = (parts: object) => ({ name: 'D', bindings: [], ...parts });
const horse = (state: object, instanceId = 'N') => ({ entitySchema: 'horse', instanceId, state });

/** Requests that concern the runtime and are refused, with the answer that each must get. */
export const refusedRequests: readonly RefusedRequest[] = [
  execute('execute without an event', { input: {} }, invalid('/event')),
  execute('execute with a list as input', { event: 'fine', input: [] }, invalid('/input')),
  execute('execute with an unknown property', { event: 'fine', speed: 1 }, invalid()),
  execute('execute with a text as body', 'fine', invalid()),
  execute('execute without a body', undefined, [400, 'validation_failed']),
  execute(
    'execute with a key in quotes that do not end',
    { event: 'fine', input: { id: 'A', by: 1 } },
    [400, 'validation_failed'],
    {
      'idempotency-key': '"x',
    },
  ),
  request('POST', below('/execute?dryRun=perhaps'))('a dry run, perhaps', { event: 'fine' }, invalid()),

  addBindings('bindings that are no list', { event: 'fine', eventVersion: 1 }, [400, 'body_must_be_array']),
  addBindings('bindings that name an event twice', twice, [400, 'duplicate_event', '/1/event']),
  addBindings('a binding without a version', [{ event: 'unbound' }], invalid('/0/eventVersion')),
  addBindings('a binding without an event', [{ eventVersion: 1 }], invalid('/0/event')),
  addBindings('a binding with an unknown property', [{ event: 'unbound', eventVersion: 1, a: 1 }], invalid()),
  addBindings(
    'a binding of an unknown event',
    [{ event: 'ghost', eventVersion: 1 }],
    [400, 'unknown_event', '/0/event'],
  ),
  addBindings(
    'a binding of an unknown version',
    [{ event: 'unbound', eventVersion: 2 }],
    [400, 'unknown_event_version', '/0/eventVersion'],
  ),
  addBindings(
    'a binding to an unknown chain',
    [{ event: 'unbound', eventVersion: 1, targetChains: ['moon'] }],
    [400, 'unknown_chain', '/0/targetChains/0'],
  ),
  addBindings(
    'a binding that is there, behind one that is not',
    [
      { event: 'unbound', eventVersion: 1 },
      { event: 'fine', eventVersion: 1 },
    ],
    [409, 'event_binding_exists'],
  ),
  changeBindings('changed bindings that are no list', {}, [400, 'body_must_be_array']),
  changeBindings('changed bindings that name an event twice', twice, [400, 'duplicate_event', '/1/event']),
  changeBindings(
    'a changed binding of an event that is neither bound nor there',
    [{ event: 'ghost', eventVersion: 1 }],
    [404, 'event_binding_not_found', '/0/event'],
  ),
  changeBindings(
    'a changed binding that is not there',
    [{ event: 'unbound', eventVersion: 1 }],
    [404, 'event_binding_not_found'],
  ),
  changeBindings(
    'a changed binding to an unknown version',
    [{ event: 'fine', eventVersion: 9 }],
    [400, 'unknown_event_version', '/0/eventVersion'],
  ),
  get('/event-bindings?event=unbound', 'a binding that is not there', [404, 'event_binding_not_found']),
  remove('/event-bindings?event=unbound', 'unbinding what is not bound', [404, 'event_binding_not_found']),
  remove('/event-bindings', 'unbinding without an event', invalid()),

  deploy('a deployment without a name', { bindings: [] }, invalid('/name')),
  deploy('a deployment without bindings', { name: 'D' }, invalid('/bindings')),
  deploy('a deployment with a binding twice', named({ bindings: twice }), [
    400,
    'duplicate_event',
    '/bindings/1/event',
  ]),
  deploy('a deployment of an unknown event', named({ bindings: [{ event: 'ghost', eventVersion: 1 }] }), [
    400,
    'unknown_event',
    '/bindings/0/event',
  ]),
  deploy('a deployment of an unknown version', named({ bindings: [{ event: 'fine', eventVersion: 2 }] }), [
    400,
    'unknown_event_version',
    '/bindings/0/eventVersion',
  ]),
  deploy('a deployment with an unknown model', named({ aiModelId: 'ghost' }), [
    400,
    'unknown_ai_model',
    '/aiModelId',
  ]),
  deploy('a deployment in an unknown mode', named({ mode: 'open' }), invalid('/mode')),
  deploy('a clone of nothing', named({ sourceDeployment: `0x${'0'.repeat(40)}` }), [
    400,
    'unknown_deployment',
    '/sourceDeployment',
  ]),
  deploy('a clone from a seq without a source', named({ sourceSeq: 1 }), invalid('/sourceSeq')),
  request('POST', () => '/worlds/999999/deployments')('a deployment of no world', named({}), [
    404,
    'world_not_found',
  ]),
  request('GET', ({ world }) => `${world}/events/fine/event-versions/01`)(
    'a version number with a leading zero',
    undefined,
    [404, 'event_version_not_found'],
  ),
  deploy('a deployment that pays to no wallet', named({ payToAddress: 'zz' }), invalid('/payToAddress')),
  request('PUT', below(''))(
    'settings that pay to no wallet',
    { payToAddress: 'zz' },
    invalid('/payToAddress'),
  ),
  request('PUT', below(''))('settings with an unknown property', { speed: 1 }, invalid()),
  request('PUT', below(''))('settings with an unknown model', { aiModelId: 'ghost' }, [
    400,
    'unknown_ai_model',
    '/aiModelId',
  ]),
  request('PUT', below(''))('settings with a list as name', { name: [] }, invalid('/name')),

  create('an instance without a schema', { instanceId: 'N' }, invalid('/entitySchema')),
  create('an instance without an instanceId', { entitySchema: 'horse' }, invalid('/instanceId')),
  create('an instance with a list as state', horse([]), invalid('/state')),
  create('an instance of an unknown schema', { entitySchema: 'ghost', instanceId: 'N' }, [
    400,
    'unknown_entity_schema',
    '/entitySchema',
  ]),
  create('an instance that is there', horse({}, 'A'), [409, 'entity_instance_exists']),
  create('an instance with a value below its minimum', horse({ wins: -1 }), [
    400,
    'invalid_state',
    '/state/wins',
  ]),
  create('an instance with a value of the wrong type', horse({ speed: 'fast' }), [
    400,
    'invalid_state',
    '/state/speed',
  ]),
  create('an instance with a value that is not allowed', horse({ colour: 'green' }), [
    400,
    'invalid_state',
    '/state/colour',
  ]),
  create('an instance with a text that breaks its pattern', horse({ name: 'A1' }), [
    400,
    'invalid_state',
    '/state/name',
  ]),
  create('an instance without what is required', horse({ name: null }), [
    400,
    'invalid_state',
    '/state/name',
  ]),
  create('an instance with too large a state', horse({ note: 'x'.repeat(66_000) }), [400, 'invalid_state']),
  ...['__proto__', 'constructor', 'prototype'].map((id) =>
    create(`an instance called ${id}`, horse({}, id), invalid('/instanceId')),
  ),
  create('an attribute twice, in two normal forms', horse({ 'e\u0301': 1, '\u00e9': 2 }), invalid('/state')),
  create('an instanceId that is too long', horse({}, 'x'.repeat(256)), invalid('/instanceId')),
  create('an instanceId with a control character', horse({}, 'a\u0001'), invalid('/instanceId')),
  replace('a state that is missing', {}, invalid('/state')),
  replace('a state that breaks its schema', { state: { wins: 'many' } }, [
    400,
    'invalid_state',
    '/state/wins',
  ]),
  replace('a state that leaves out what is required', { state: {} }, [400, 'invalid_state', '/state/name']),
  replace('a state for another revision', { state: { name: 'x' } }, [412, 'revision_mismatch'], {
    'if-match': '"99"',
  }),
  replace('a state for a revision in no known form', { state: { name: 'x' } }, [412, 'revision_mismatch'], {
    'if-match': 'W/"one"',
  }),
  request('PUT', below('/entity-instances/nobody'))('a state of nobody', { state: {} }, [
    404,
    'entity_instance_not_found',
  ]),
  request('PUT', below('/entity-instances/twin'))('a state of one of two', { state: {} }, [
    409,
    'ambiguous_instance',
  ]),
  get('/entity-instances/twin', 'one of two', [409, 'ambiguous_instance']),
  get('/entity-instances/nobody', 'nobody', [404, 'entity_instance_not_found']),
  get('/entity-instances/A?atSeq=1', 'one before it was there', [404, 'entity_instance_not_found']),
  get('/entity-instances/A?atSeq=0', 'one before the beginning', invalid()),
  get('/entity-instances/A?entitySchema=extra', 'one of another schema', [404, 'entity_instance_not_found']),
  remove('/entity-instances/nobody', 'the removal of nobody', [404, 'entity_instance_not_found']),
  remove('/entity-instances/twin', 'the removal of one of two', [409, 'ambiguous_instance']),
  get('/entity-instances?atSeq=0', 'a list of before the beginning', invalid()),
  get('/entity-instances?atSeq=100000', 'a list of after the end', [404, 'entity_instance_not_found']),
  get('/entity-instances?page=0', 'a page before the first', invalid()),
  get('/entity-instances?limit=101', 'too long a page', invalid()),
  get('/entity-instances?page=01', 'a page with a leading zero', invalid()),
  get('/entity-instances?page=1001&limit=100', 'too deep a page', [400, 'page_too_deep']),

  get('/history?limit=0', 'an empty page of history', invalid()),
  get('/history?page=2&after=3', 'two ways of turning pages', invalid()),
  get('/history?status=perhaps', 'a history of an unknown status', invalid()),
  get('/history?instance=horse', 'a history of half a name', invalid()),
  get('/history?include=none', 'a history of nothing', invalid()),
  get('/history/nothing', 'an entry that is not there', [404, 'history_entry_not_found']),
  get('/history/00000000-0000-7000-8000-000000000000', 'an id that is not there', [
    404,
    'history_entry_not_found',
  ]),
  get('/history/verify?from=0', 'a verification from nowhere', invalid()),
  get('/history/verify?limit=100001', 'a verification of too much', invalid()),
  get('/executions/00000000-0000-7000-8000-000000000000', 'an execution that is not there', [
    404,
    'execution_not_found',
  ]),
  request('GET', ({ world }) => `${world}/deployments/999999`)('no deployment', undefined, [
    404,
    'deployment_not_found',
  ]),
  request('POST', ({ world }) => `${world}/deployments/0xzz/execute`)(
    'an address that is none',
    { event: 'fine' },
    [404, 'deployment_not_found'],
  ),
];
