-- migrate:up
-- What the probability of a guess is computed from, and how it turned out.

-- Phones of an organization's recent first opens: the commoner a phone, the less a likeness says. 300 at most, of which a
-- new one replaces any; nothing leads to a device, an address or a time of day.
CREATE TABLE counted_phones (
	organization_id uuid NOT NULL CONSTRAINT counted_phones_organization_id_fkey
		REFERENCES organizations (id) ON DELETE CASCADE,
	slot smallint NOT NULL,
	day date NOT NULL,
	platform text NOT NULL CONSTRAINT counted_phones_platform_check CHECK (platform IN ('iOS', 'Android')),
	-- as the app sent them; they are normalized where they are compared
	os_version text,
	device_model text,
	language text,
	timezone text,
	CONSTRAINT counted_phones_pkey PRIMARY KEY (organization_id, slot)
);
CREATE INDEX counted_phones_day_idx ON counted_phones (day);

-- Where a token proved the link: how many guesses were made beside it, and how many chose the same link.
CREATE TABLE guess_grades (
	organization_id uuid NOT NULL CONSTRAINT guess_grades_organization_id_fkey
		REFERENCES organizations (id) ON DELETE CASCADE,
	day date NOT NULL,
	confidence text NOT NULL CONSTRAINT guess_grades_confidence_check CHECK (confidence IN ('high', 'medium', 'low')),
	graded integer NOT NULL,
	correct integer NOT NULL,
	CONSTRAINT guess_grades_pkey PRIMARY KEY (organization_id, day, confidence)
);

-- migrate:down
DROP TABLE guess_grades;
DROP TABLE counted_phones;
