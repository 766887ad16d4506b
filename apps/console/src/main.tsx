import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.js';
import { createConsoleRouter } from './router.js';
import { createSession } from './session/session.js';
import { applyTheme } from './ui/theme.js';
import './style.css';

applyTheme();
const session = createSession();
const queryClient = createQueryClient(session);
const router = createConsoleRouter({ session, queryClient });
// Leaving deletes what was read with the key, and the router then leads to the sign-in.
session.subscribe(() => {
  if (session.current() === undefined) queryClient.clear();
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
