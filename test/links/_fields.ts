/** A value of each field that links and templates have, but of the path. */
export const sharedFields = {
	params: {campaign: 'spring', empty: ''},
	og: {title: 'Sale', description: 'Half the price', imageUrl: 'http://img.example.com/a.png'},
	fallbackUrl: 'https://www.example.com/a%20b',
	channel: 'email',
	tags: ['sale', 'spring'],
	utmSource: 'a',
	utmMedium: 'b',
	utmCampaign: 'c',
	utmTerm: 'd',
	utmContent: 'e',
	deferredDeepLinking: false,
	matchWindowHours: 720,
};
