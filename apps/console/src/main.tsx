import { CSPProvider } from '@base-ui/react/csp-provider';
import { MutationCache, QueryCache, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createCache } from './api/read.js';
import { createConsoleRouter } from './router.js';
import { createSession, endIfRefused } from './session/session.js';
import { applyTheme } from './ui/theme.js';
import './style.css';

applyTheme();
const session = createSession();
const onError = (error: unknown) => endIfRefused(session, error);
/** The one cache of what the API said. A refused key ends the session wherever it was noticed. */
const queryClient = createCache({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
});
const router = createConsoleRouter({ session, queryClient });
// Leaving deletes what was read with the key, and the router then leads to the sign-in. Where a key was refused, the sign-in
// covers the page, so that what was typed there is not lost; what it shows is read anew with the next key.
session.subscribe(() => {
  if (session.current() !== undefined) void queryClient.invalidateQueries();
  else if (!session.isInterrupted()) queryClient.clear();
  void router.invalidate();
});

const root = document.getElementById('console');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
