/** What the element says: texts of the pay page, and the one that it has of its own. payments E6, H15. */
import { LANGUAGES, type Language } from '../pay/words.ts';

/** Of the pay page's. */
export const ELEMENT_WORDS = [
  'sendOnly',
  'otherLost',
  'copyAddress',
  'copyAmount',
  'copied',
  'openWallet',
  'awaiting',
  'detected',
  'underpaid',
  'confirmed',
  'late',
  'expired',
  'renew',
  'email',
  'show',
  'notNow',
] as const;

const UNVERIFIED: Readonly<Record<Language, string>> = {
  en: 'This address could not be verified as the merchant’s. Do not pay; ask the merchant.',
  de: 'Diese Adresse konnte nicht als die des Händlers bestätigt werden. Zahlen Sie nicht und fragen Sie den Händler.',
  fr: 'Cette adresse n’a pas pu être vérifiée comme celle du marchand. Ne payez pas et demandez au marchand.',
  es: 'No se pudo verificar que esta dirección sea del comercio. No pague y pregunte al comercio.',
  pt: 'Não foi possível verificar que este endereço é do comerciante. Não pague e pergunte ao comerciante.',
  it: 'Non è stato possibile verificare che questo indirizzo sia del commerciante. Non pagare e chiedi al commerciante.',
  nl: 'Dit adres kon niet worden bevestigd als dat van de verkoper. Betaal niet en vraag het de verkoper.',
  pl: 'Nie udało się potwierdzić, że ten adres należy do sprzedawcy. Nie płać i zapytaj sprzedawcę.',
  tr: 'Bu adresin satıcıya ait olduğu doğrulanamadı. Ödeme yapmayın, satıcıya sorun.',
  ru: 'Не удалось подтвердить, что этот адрес принадлежит продавцу. Не платите и спросите продавца.',
  uk: 'Не вдалося підтвердити, що ця адреса належить продавцю. Не платіть і запитайте продавця.',
  'zh-Hans': '无法验证此地址属于商家。请勿付款，并联系商家。',
  ja: 'このアドレスが販売者のものであることを確認できません。支払わずに販売者に問い合わせてください。',
  ko: '이 주소가 판매자의 것인지 확인할 수 없습니다. 결제하지 말고 판매자에게 문의하세요.',
  vi: 'Không thể xác minh địa chỉ này là của người bán. Đừng thanh toán và hãy hỏi người bán.',
  id: 'Alamat ini tidak dapat dipastikan milik penjual. Jangan membayar dan tanyakan kepada penjual.',
  hi: 'इस पते के विक्रेता का होने की पुष्टि नहीं हो सकी। भुगतान न करें और विक्रेता से पूछें।',
  ar: 'تعذر التحقق من أن هذا العنوان يخص التاجر. لا تدفع واسأل التاجر.',
  he: 'לא ניתן לאמת שכתובת זו שייכת לסוחר. אל תשלמו ושאלו את הסוחר.',
  fa: 'تأیید نشد که این نشانی متعلق به فروشنده است. پرداخت نکنید و از فروشنده بپرسید.',
};

/** Texts of the element by language. */
export const elementWords = (): Readonly<Record<string, Readonly<Record<string, string>>>> =>
  Object.fromEntries(
    Object.entries(LANGUAGES).map(([language, words]) => [
      language,
      {
        ...Object.fromEntries(ELEMENT_WORDS.map((word) => [word, words[word]])),
        unverified: UNVERIFIED[language as Language],
      },
    ]),
  );
