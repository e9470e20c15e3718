-- migrate:up
-- How far each click journal of a process has been brought into the tables (docs/click-journal.md). Moved in the
-- transaction that brings the clicks, so that each of them arrives once.
CREATE TABLE click_journals (
	id uuid CONSTRAINT click_journals_pkey PRIMARY KEY,
	-- the number of the file, and the bytes of it that are done
	segment integer NOT NULL,
	position bigint NOT NULL,
	moved_at timestamptz NOT NULL DEFAULT now()
);

-- migrate:down
DROP TABLE click_journals;
