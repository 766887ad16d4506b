import type { JsonObject } from '@orrery/sdk';
import type { QueryClient } from '@tanstack/react-query';
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { objectIn } from './forms/json.js';
import { Frame } from './layout/frame.js';
import { NotFound, PageFailed } from './layout/no-page.js';
import { readLiveSearch } from './live/live-search.js';
import { SPAN_NAMES } from './overview/spans.js';
import { STATUSES as PAYMENT_STATUSES } from './payments/payment-words.js';
import { STATES as PUSH_STATES } from './pushes/push-words.js';
import { STATUSES as OCCURRENCE_STATUSES } from './schedules/ledger-words.js';
import type { Session } from './session/session.js';
import { codeIn, SignInPage } from './session/sign-in-page.js';
import type { Beside } from './ui/messages.js';
import { loaded } from './ui/not-loaded.js';
import { nameIn, numberFromOne, oneOf, pageIn, searchOf } from './ui/search-values.js';
import { MEASURES, RANGES } from './usage/usage-series.js';
import { WorldsPage } from './worlds/worlds-page.js';

export interface RouterContext {
  readonly session: Session;
  readonly queryClient: QueryClient;
}

// Every page of the console, by its address below /console. What belongs together is loaded together.

const SIGN_IN = '/sign-in';

const root = createRootRouteWithContext<RouterContext>()({
  component: Frame,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
  beforeLoad: ({ context: { session }, location: { pathname, href } }) => {
    if (session.current() === undefined && !session.isInterrupted() && pathname !== SIGN_IN)
      throw redirect({ to: SIGN_IN, search: href === '/' ? {} : { next: href } });
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: SIGN_IN,
  component: SignInPage,
  validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
    // Only a page of the console, never another origin.
    typeof next === 'string' && /^\/(?!\/)/.test(next) ? { next } : {},
  beforeLoad: ({ context: { session }, search: { next }, location: { hash } }) => {
    // A new link signs in anew, whoever is signed in.
    if (session.current() !== undefined && codeIn(hash) === undefined) throw redirect({ href: next ?? '/' });
  },
});

const worlds = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: WorldsPage,
  validateSearch: searchOf({ owner: oneOf(['all'] as const), page: pageIn }),
});

/** `name`: the page among the exports of a file that has several. */
const page = <Parent extends AnyRoute, const Path extends string, Search = object>(
  parent: Parent,
  path: Path,
  load: () => Promise<Record<string, unknown>>,
  validateSearch?: (search: Record<string, unknown>) => Search,
  name = 'default',
) =>
  createRoute({
    getParentRoute: () => parent,
    path,
    component: lazyRouteComponent(() => loaded(load) as Promise<Record<string, () => ReactNode>>, name),
    ...(validateSearch && { validateSearch }),
  });

const deployment = page(
  root,
  '/worlds/$world/deployments/$deployment',
  () => import('./deployments/deployment-page.js'),
);

/** A deployment opens with what happens in it. */
const opened = createRoute({
  getParentRoute: () => deployment,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/worlds/$world/deployments/$deployment/live', params, replace: true });
  },
});

const partsOfDeployment = [
  opened,
  page(deployment, '/live', () => import('./live/live-page.js'), readLiveSearch),
  // How far back it looks.
  page(
    deployment,
    '/overview',
    () => import('./overview/overview-page.js'),
    searchOf({ of: oneOf(SPAN_NAMES) }),
  ),
  // The schema whose instances are listed, what finds them, and their order.
  page(
    deployment,
    '/data',
    () => import('./data/data-page.js'),
    searchOf({ schema: nameIn, find: nameIn, where: nameIn, order: nameIn }),
  ),
  page(deployment, '/verify', () => import('./verify/verify-page.js')),
  // Which entries are replayed, and what is different.
  page(
    deployment,
    '/what-if',
    () => import('./what-if/what-if-page.js'),
    searchOf({
      from: numberFromOne,
      to: numberFromOne,
      event: nameIn,
      version: numberFromOne,
      model: nameIn,
    }),
  ),
  // After which entry this deployment, and after which another one; without one as they are now.
  page(
    deployment,
    '/compare',
    () => import('./compare/compare-page.js'),
    searchOf({ at: numberFromOne, with: nameIn, to: numberFromOne }),
  ),
  // Another version than the bound one is for dry runs; the form starts with the input.
  page(
    deployment,
    '/run',
    () => import('./run/run-page.js'),
    searchOf({ event: nameIn, version: numberFromOne, input: objectIn }),
  ),
  // The event whose ledger is shown.
  page(
    deployment,
    '/schedules',
    () => import('./schedules/schedules-page.js'),
    searchOf({ event: nameIn, status: oneOf(OCCURRENCE_STATUSES), page: pageIn }),
  ),
  page(
    deployment,
    '/pushes',
    () => import('./pushes/pushes-page.js'),
    searchOf({ chain: nameIn, state: oneOf(PUSH_STATES), page: pageIn }),
  ),
  page(
    deployment,
    '/payments',
    () => import('./payments/payments-page.js'),
    searchOf({ status: oneOf(PAYMENT_STATUSES), page: pageIn }),
  ),
  // How many days, today included, and the event whose runs are listed.
  page(
    deployment,
    '/ai',
    () => import('./usage/usage-page.js'),
    searchOf({ days: oneOf(RANGES), measure: oneOf(MEASURES), event: nameIn, page: pageIn }),
  ),
  page(deployment, '/settings', () => import('./deployments/settings-page.js')),
] as const;

const tree = root.addChildren([
  signIn,
  worlds,
  page(root, '/keys', () => import('./keys/keys-page.js')),
  // The page of its list of deployments.
  page(root, '/worlds/$world', () => import('./worlds/world-page.js'), searchOf({ page: pageIn })),
  page(root, '/worlds/$world/map', () => import('./map/map-page.js')),
  page(root, '/worlds/$world/schemas/$schema', () => import('./schemas/schema-page.js')),
  // The versions that are compared.
  page(
    root,
    '/worlds/$world/events/$event',
    () => import('./events/event-page.js'),
    searchOf({ left: numberFromOne, right: numberFromOne }),
  ),
  // The draft that is edited, or the version that a new one is copied from.
  page(
    root,
    '/worlds/$world/events/$event/edit',
    () => import('./editing/version-pages.js'),
    searchOf({ version: numberFromOne, from: numberFromOne }),
    'EditVersionPage',
  ),
  page(
    root,
    '/worlds/$world/new-event',
    () => import('./editing/version-pages.js'),
    searchOf({}),
    'NewEventPage',
  ),
  // The deployment to clone, and the entry after which; without one as it is now.
  page(
    root,
    '/worlds/$world/deploy',
    () => import('./deployments/new-deployment-page.js'),
    searchOf({ source: nameIn, seq: numberFromOne }),
  ),
  deployment.addChildren(partsOfDeployment),
]);

export const createConsoleRouter = (context: RouterContext) =>
  createRouter({
    routeTree: tree,
    basepath: '/console',
    context,
    defaultErrorComponent: PageFailed,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What the service said beside the answer to what led to this page, such as warnings. */
    said?: Beside;
    /** An input to run again that is too long for an address. */
    input?: JsonObject;
  }
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
