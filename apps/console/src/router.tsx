import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { readNewDeploymentSearch } from './deployments/new-deployment-search.js';
import { readEditSearch, readEventSearch } from './events/event-search.js';
import { Frame } from './layout/frame.js';
import { NotFound } from './layout/not-found.js';
import { PageFailed } from './layout/page-failed.js';
import { readLiveSearch } from './live/live-search.js';
import { readPaymentsSearch } from './payments/payments-search.js';
import { readPushesSearch } from './pushes/pushes-search.js';
import { readRunSearch } from './run/run-search.js';
import { readSchedulesSearch } from './schedules/schedules-search.js';
import type { Session } from './session/session.js';
import { codeIn, SignInPage } from './session/sign-in-page.js';
import { defined, pageIn } from './ui/search-values.js';
import { readUsageSearch } from './usage/usage-search.js';
import { readWorldsSearch, WorldsPage } from './worlds/worlds-page.js';

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
    if (session.current() === undefined && pathname !== SIGN_IN)
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
  validateSearch: readWorldsSearch,
});

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys/keys-page.js'), 'KeysPage'),
});

const world = createRoute({
  getParentRoute: () => root,
  path: '/worlds/$world',
  component: lazyRouteComponent(() => import('./worlds/world-page.js'), 'WorldPage'),
  // The page of its list of deployments.
  validateSearch: ({ page }: Record<string, unknown>): { page?: number } => defined({ page: pageIn(page) }),
});

const schema = createRoute({
  getParentRoute: () => root,
  path: '/worlds/$world/schemas/$schema',
  component: lazyRouteComponent(() => import('./schemas/schema-page.js'), 'SchemaPage'),
});

const event = createRoute({
  getParentRoute: () => root,
  path: '/worlds/$world/events/$event',
  component: lazyRouteComponent(() => import('./events/event-page.js'), 'EventPage'),
  validateSearch: readEventSearch,
});

const editVersion = createRoute({
  getParentRoute: () => root,
  path: '/worlds/$world/events/$event/edit',
  component: lazyRouteComponent(() => import('./events/edit-version-page.js'), 'EditVersionPage'),
  validateSearch: readEditSearch,
});

const newEvent = createRoute({
  getParentRoute: () => root,
  path: '/worlds/$world/new-event',
  component: lazyRouteComponent(() => import('./events/new-event-page.js'), 'NewEventPage'),
});

const deployment = createRoute({
  getParentRoute: () => root,
  path: '/worlds/$world/deployments/$deployment',
  component: lazyRouteComponent(() => import('./deployments/deployment-page.js'), 'DeploymentPage'),
});

const live = createRoute({
  getParentRoute: () => deployment,
  path: '/live',
  component: lazyRouteComponent(() => import('./live/live-page.js'), 'LivePage'),
  validateSearch: readLiveSearch,
});

const verify = createRoute({
  getParentRoute: () => deployment,
  path: '/verify',
  component: lazyRouteComponent(() => import('./verify/verify-page.js'), 'VerifyPage'),
});

/** A deployment opens with what happens in it. */
const opened = createRoute({
  getParentRoute: () => deployment,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/worlds/$world/deployments/$deployment/live', params, replace: true });
  },
});

const run = createRoute({
  getParentRoute: () => deployment,
  path: '/run',
  component: lazyRouteComponent(() => import('./run/run-page.js'), 'RunPage'),
  validateSearch: readRunSearch,
});

const schedules = createRoute({
  getParentRoute: () => deployment,
  path: '/schedules',
  component: lazyRouteComponent(() => import('./schedules/schedules-page.js'), 'SchedulesPage'),
  validateSearch: readSchedulesSearch,
});

const pushes = createRoute({
  getParentRoute: () => deployment,
  path: '/pushes',
  component: lazyRouteComponent(() => import('./pushes/pushes-page.js'), 'PushesPage'),
  validateSearch: readPushesSearch,
});

const payments = createRoute({
  getParentRoute: () => deployment,
  path: '/payments',
  component: lazyRouteComponent(() => import('./payments/payments-page.js'), 'PaymentsPage'),
  validateSearch: readPaymentsSearch,
});

const ai = createRoute({
  getParentRoute: () => deployment,
  path: '/ai',
  component: lazyRouteComponent(() => import('./usage/usage-page.js'), 'UsagePage'),
  validateSearch: readUsageSearch,
});

const settings = createRoute({
  getParentRoute: () => deployment,
  path: '/settings',
  component: lazyRouteComponent(() => import('./deployments/settings-page.js'), 'SettingsPage'),
});

const newDeployment = createRoute({
  getParentRoute: () => root,
  path: '/worlds/$world/deploy',
  component: lazyRouteComponent(() => import('./deployments/new-deployment-page.js'), 'NewDeploymentPage'),
  validateSearch: readNewDeploymentSearch,
});

const tree = root.addChildren([
  signIn,
  worlds,
  keys,
  world,
  schema,
  event,
  editVersion,
  newEvent,
  newDeployment,
  deployment.addChildren([opened, live, verify, run, schedules, pushes, payments, ai, settings]),
]);

export const createConsoleRouter = (context: RouterContext) =>
  createRouter({
    routeTree: tree,
    basepath: '/console',
    context,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What the service said beside the answer to what led to this page, such as warnings. */
    said?: string;
  }
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
