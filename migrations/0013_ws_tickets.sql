-- One-time tickets that open WebSockets: hashes alone, each good once and for seconds.

CREATE TABLE ws_tickets (
  ticket_sha256 text PRIMARY KEY,
  session_id uuid NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX ws_tickets_by_session ON ws_tickets (session_id, expires_at);
CREATE INDEX ws_tickets_by_age ON ws_tickets (expires_at);
GRANT SELECT, INSERT, DELETE ON ws_tickets TO orch_app;
