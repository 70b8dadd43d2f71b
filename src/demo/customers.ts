/** Segment of a customer: private yacht, charter company or ferry operator. */
export type Trade = 'yacht' | 'charter' | 'ferry'

/** A fictional customer of the demo. */
export interface DemoCustomer {
  name: string
  email: string
  trade: Trade
  currency: string
  vessels: readonly [string, ...string[]]
}

type Row = [name: string, email: string, currency: string, ...vessels: [string, ...string[]]]

const customers = (trade: Trade, rows: readonly Row[]): DemoCustomer[] =>
  rows.map(([name, email, currency, ...vessels]) => ({ name, email, trade, currency, vessels }))

const YACHTS = customers('yacht', [
  ['Ann Example', 'ann@example.com', 'EUR', 'Sandpiper'],
  ['Γιώργος Παπαδόπουλος', 'giorgos@example.org', 'EUR', 'Αργοναύτης'],
  ['Ελένη Καραγιάννη', 'eleni.k@example.org', 'EUR', 'Γαλήνη'],
  ['Søren Ødegård', 'soren@example.net', 'NOK', 'Måken', 'Sørvind'],
  ['Ingrid Bjørnstad', 'ingrid.bjornstad@example.net', 'NOK', 'Havørn'],
  ['Marie-Claire Dubois', 'mc.dubois@example.com', 'EUR', 'Étoile du Sud'],
  ['Étienne L’Hôte', 'etienne@example.org', 'EUR', 'Belle-Île'],
  ['José Núñez Álvarez', 'jnunez@example.com', 'EUR', 'Año Nuevo'],
  ['Giulia D’Amico', 'giulia.damico@example.net', 'EUR', 'Libeccio'],
  ['Jürgen Groß', 'j.gross@example.com', 'EUR', 'Windsbraut'],
  ['Zoë van der Meer', 'zoe.vandermeer@example.org', 'EUR', 'Eendracht', 'Vlieland'],
  ['Małgorzata Wiśniewska', 'm.wisniewska@example.com', 'EUR', 'Bryza'],
  ['Ayşe Yılmaz', 'ayse@example.org', 'EUR', 'Gökova'],
  ['Иван Петров', 'ivan.petrov@example.net', 'EUR', 'Ласточка'],
  ['Петя Георгиева', 'petya@example.org', 'EUR', 'Черноморец'],
  ['山田 太郎', 'yamada@example.com', 'JPY', '海風', '第三大漁丸'],
  ['佐藤 葵', 'aoi.sato@example.org', 'JPY', 'しおかぜ'],
  ['林 志明', 'chiming.lin@example.net', 'USD', '順風'],
  ['김민준', 'minjun@example.com', 'USD', '파도'],
  ['سارة الخليفة', 'sara@example.org', 'USD', 'نجمة البحر'],
  ['נועה לוי', 'noa.levi@example.net', 'USD', 'כוכב הים'],
  ['Priya Ramaswamy', 'priya@example.com', 'USD', 'Monsoon'],
  ['Thabo Mokoena', 'thabo@example.org', 'USD', 'Cape Gannet'],
  ['Walter O’Brien', 'wobrien@example.com', 'USD', 'Second Wind', 'Knot Today'],
  ['Catherine Whitfield', 'c.whitfield@example.net', 'USD', 'Liberty Belle'],
  ['Hōkūlani Kealoha', 'hokulani@example.org', 'USD', 'Makani'],
  ['Rhys ap Llywelyn', 'rhys@example.com', 'GBP', 'Môr Gwyn'],
  ['Fiona MacAulay', 'fiona.macaulay@example.org', 'GBP', 'Corncrake'],
  ['Oliver Pemberton-Hythe', 'oliver@example.net', 'GBP', 'Halcyon Days'],
  ['Luca Bernasconi', 'luca@example.com', 'CHF', 'Lago Mio'],
  ['Åsa Lindström', 'asa.lindstrom@example.net', 'SEK', 'Skärgårdsflickan'],
  ['Bruce Tavener', 'bruce@example.com', 'AUD', 'Southerly Buster'],
])

const CHARTERS = customers('charter', [
  ['Aegean Blue Charter', 'bookings@example.com', 'EUR', 'Thalassa', 'Nereid', 'Meltemi', 'Ikaros'],
  ['Κυκλάδες Yachting Α.Ε.', 'office@example.org', 'EUR', 'Νηρηίς', 'Ποσειδών', 'Αμφιτρίτη'],
  ['Adria Čarter d.o.o.', 'info@example.net', 'EUR', 'Bura', 'Maestral', 'Jugo'],
  ['Balear Sails S.L.', 'reservas@example.com', 'EUR', 'Tramuntana', 'Xaloc', 'Gregal'],
  ['Côte & Mer Location', 'contact@example.org', 'EUR', 'Mistral Gagnant', 'Calanque'],
  ['Tirreno Yacht Noleggio', 'noleggio@example.net', 'EUR', 'Ponente', 'Scirocco', 'Maestrale'],
  ['Türkuaz Yatçılık', 'rezervasyon@example.com', 'EUR', 'Mavi Yolculuk', 'Lodos'],
  ['Fjord & Fjell Cruise AS', 'post@example.net', 'NOK', 'Nordlys', 'Lofotposten'],
  ['Solent Sailing Holidays Ltd', 'hello@example.org', 'GBP', 'Needles Eye', 'Spithead'],
  ['Windward & Leeward Charters', 'crew@example.com', 'USD', 'Trade Wind', 'Tamarind', 'Pelican'],
  ['Whitsunday Drift', 'sail@example.net', 'AUD', 'Coral Drift', 'Hill Inlet'],
])

const FERRIES = customers('ferry', [
  ['Rederij Waddenzee', 'vloot@example.com', 'EUR', 'Noorderlicht', 'Oosterschelde'],
  ['Ακτοπλοΐα Αιγαίου', 'fleet@example.org', 'EUR', 'Κυκλάδες Εξπρές', 'Αιγαίον'],
  ['Traghetti del Golfo', 'flotta@example.net', 'EUR', 'Isola Bella', 'Golfo Azzurro'],
  ['Jadranska Linija', 'flota@example.com', 'EUR', 'Kornati', 'Lastovo'],
  ['Kystlinjen ASA', 'miljo@example.net', 'NOK', 'Kystkongen', 'Trollfjord Ekspress'],
  ['Hebridean Sound Ferries', 'marine@example.org', 'GBP', 'Isle of Scarba', 'Sound of Harris'],
  ['瀬戸内フェリー', 'office.setouchi@example.com', 'JPY', 'せとうち', 'いよ'],
  ['Stockholms Skärgårdstrafik', 'miljo.skargard@example.net', 'SEK', 'Sandhamn', 'Vaxö'],
])

/** Each trade's share of the orders, and its customers. */
export const TRADES = [
  { trade: 'charter', share: 0.45, customers: CHARTERS },
  { trade: 'yacht', share: 0.35, customers: YACHTS },
  { trade: 'ferry', share: 0.2, customers: FERRIES },
] as const
