"""The plainest orders in further languages: keep it secret, be another, show your instructions."""

from dataclasses import dataclass, field

from memoryweb.core.guard.rules.by_language import Attack, Language, classes, rules


@dataclass(frozen=True)
class _Words(Language):
    hush: str  # all of it: do not tell the user
    become: str  # from now on you are
    unbound: str  # an assistant without limits
    show: str  # show me, print
    inner: str  # your instructions, the system prompt
    gap: int = field(default=4, kw_only=True)


_LANGUAGES = (
    _Words(
        "Spanish",
        "es",
        hush="""
            no_le_digas_al_usuario no_digas_al_usuario no_se_lo_digas_al_usuario
            no_informes_al_usuario no_le_cuentes_al_usuario sin_que_el_usuario_lo_sepa
            sin_decirselo_al_usuario sin_informar_al_usuario oculta_esto_al_usuario
        """,
        become="""
            eres_ahora ahora_eres a_partir_de_ahora_eres de_ahora_en_adelante_eres actua_como
            finge_ser
        """,
        unbound="""
            dan sin_restricciones sin_limites sin_filtros sin_reglas sin_censura hacker pirata
            malvado
            malvada
        """,
        show="muestra muestrame revela imprime repite dime cuales_son escribe ensename",
        inner="""
            tu_prompt tus_instrucciones prompt_del_sistema prompt_de_sistema instrucciones_iniciales
            instrucciones_del_sistema instrucciones_ocultas
        """,
        passes=("Muestra las instrucciones de uso.", "No le digas a nadie la sorpresa."),
    ),
    _Words(
        "Portuguese",
        "pt",
        hush="""
            nao_diga_ao_usuario nao_conte_ao_usuario nao_informe_o_usuario nao_digas_ao_utilizador
            sem_que_o_usuario_saiba sem_avisar_o_usuario sem_informar_o_usuario nao_avise_o_usuario
        """,
        become="""
            voce_agora_e agora_voce_e a_partir_de_agora_voce_e agora_es aja_como finja_ser atue_como
        """,
        unbound="dan sem_restricoes sem_limites sem_filtros sem_regras sem_censura hacker pirata",
        show="mostre mostra revele imprima repita diga quais_sao escreva",
        inner="""
            seu_prompt suas_instrucoes tuas_instrucoes prompt_do_sistema prompt_de_sistema
            instrucoes_iniciais instrucoes_do_sistema instrucoes_ocultas
        """,
        passes=("Mostre as instruções de uso.", "Não diga a ninguém."),
    ),
    _Words(
        "French",
        "fr",
        hush="""
            ne_dis_rien_a_l'utilisateur ne_dites_rien_a_l'utilisateur ne_le_dis_pas_a_l'utilisateur
            ne_le_dites_pas_a_l'utilisateur n'informe_pas_l'utilisateur n'informez_pas_l'utilisateur
            sans_que_l'utilisateur_le_sache a_l'insu_de_l'utilisateur sans_prevenir_l'utilisateur
            sans_le_dire_a_l'utilisateur
        """,
        become="""
            tu_es_maintenant vous_etes_maintenant tu_es_desormais vous_etes_desormais
            a_partir_de_maintenant_tu_es agis_comme fais_semblant_d'etre comporte-toi_comme
        """,
        unbound="""
            dan sans_restriction sans_restrictions sans_limites sans_limite sans_filtre sans_filtres
            sans_regles sans_censure hacker pirate
        """,
        show="""
            montre montrez montre-moi montrez-moi affiche affichez revele revelez repete
            quelles_sont
        """,
        inner="""
            ton_prompt votre_prompt tes_instructions vos_instructions prompt_systeme
            invite_systeme instructions_initiales instructions_systeme instructions_cachees
        """,
        passes=("Affichez les instructions d'installation.", "Tu es maintenant membre du groupe."),
    ),
    _Words(
        "German",
        "de",
        hush="""
            sag_dem_nutzer_nichts sage_dem_nutzer_nichts sag_dem_benutzer_nichts
            sage_dem_benutzer_nichts sagen_sie_dem_benutzer_nichts sagen_sie_dem_nutzer_nichts
            erzahle_dem_benutzer_nichts erzahl_dem_nutzer_nichts verrate_dem_nutzer_nichts
            ohne_dass_der_nutzer ohne_wissen_des_nutzers ohne_wissen_des_benutzers
            verheimliche_dem_nutzer verschweige_dem_nutzer verschweige_dem_benutzer
            hinter_dem_rucken_des_nutzers
        """,
        become="""
            du_bist_jetzt du_bist_nun ab_jetzt_bist_du von_nun_an_bist_du ab_sofort_bist_du
            sie_sind_jetzt jetzt_bist_du nun_bist_du tu_so_als_warst_du stell_dir_vor_du_bist
            stell_dir_vor_du_warst verhalte_dich_wie agiere_als spiele
        """,
        unbound="""
            dan keine_regeln ohne_regeln ohne_einschrankungen ohne_grenzen ohne_filter
            keine_einschrankungen uneingeschrankte uneingeschrankter hacker pirat bose_ki boser_ki
            ungefiltert ungefilterte zensur
        """,
        show="""
            zeig zeige zeigen_sie gib_mir gib nenne nenn drucke wiederhole wie_lauten was_sind
            verrate schreibe
        """,
        inner="""
            deine_anweisungen deine_instruktionen ihre_anweisungen deinen_system-prompt
            deinen_systemprompt dein_system-prompt dein_systemprompt deinen_prompt
            deine_ursprunglichen_anweisungen deine_geheimen_anweisungen deine_vorgaben
            deine_systemanweisungen text_uber_diesem deinen_anfangstext
        """,
        passes=(
            "Zeige die Anweisungen für den Drucker.",
            "Du bist jetzt angemeldet.",
            "Sag dem Team nichts vor Montag.",
        ),
    ),
    _Words(
        "Italian",
        "it",
        hush="""
            non_dire_all'utente non_dirlo_all'utente non_dire_nulla_all'utente
            non_informare_l'utente senza_che_l'utente_lo_sappia senza_dirlo_all'utente
            all'insaputa_dell'utente nascondi_questo_all'utente
        """,
        become="ora_sei adesso_sei da_ora_in_poi_sei d'ora_in_poi_sei agisci_come fingi_di_essere",
        unbound="""
            dan senza_restrizioni senza_limiti senza_filtri senza_regole senza_censura
            hacker pirata
        """,
        show="mostra mostrami rivela stampa ripeti dimmi quali_sono scrivi",
        inner="""
            tuo_prompt tue_istruzioni prompt_di_sistema istruzioni_iniziali istruzioni_di_sistema
            istruzioni_nascoste
        """,
        passes=("Mostra le istruzioni per l'uso.", "Ora sei nel gruppo."),
    ),
    _Words(
        "Dutch",
        "nl",
        hush="""
            zeg_niets_tegen_de_gebruiker vertel_de_gebruiker_niet vertel_de_gebruiker_niets
            zeg_de_gebruiker_niets zonder_dat_de_gebruiker zonder_medeweten_van_de_gebruiker
        """,
        become="je_bent_nu jij_bent_nu vanaf_nu_ben_je u_bent_nu doe_alsof_je gedraag_je_als",
        unbound="dan zonder_beperkingen zonder_regels zonder_grenzen zonder_filters hacker piraat",
        show="toon laat_zien geef_me herhaal druk_af vertel_me wat_zijn laat_me",
        inner="""
            je_instructies jouw_instructies uw_instructies je_systeemprompt jouw_systeemprompt
            je_prompt systeemprompt verborgen_instructies
        """,
        passes=("Toon de instructies voor de printer.", "Je bent nu aangemeld."),
    ),
    _Words(
        "Russian",
        "ru",
        hush="""
            не_говори_пользователю не_говорите_пользователю не_сообщай_пользователю
            не_сообщайте_пользователю не_рассказывай_пользователю втайне_от_пользователя
            без_ведома_пользователя скрой_это_от_пользователя скрой_от_пользователя
        """,
        become="""
            теперь_ты ты_теперь отныне_ты с_этого_момента_ты теперь_вы веди_себя_как
            притворись
        """,
        unbound="""
            dan без_ограничений без_правил без_фильтров без_цензуры хакер пират злой_бот злая
        """,
        show="покажи покажите выведи выведите повтори повторите раскрой напечатай назови каковы",
        inner="""
            свои_инструкции твои_инструкции ваши_инструкции свой_промпт твой_промпт
            системный_промпт системные_инструкции скрытые_инструкции системную_подсказку
        """,
        passes=("Покажи инструкции к принтеру.", "Теперь ты в группе."),
        gap=24,
    ),
    _Words(
        "Chinese",
        "zh",
        hush="背着用户 瞒住用户 别跟用户说 不要跟用户说 不要对用户说 不能让用户知道 不让用户知道",
        become="你现在是 从现在起你是 现在开始你是 你将扮演 请扮演 假装你是 想象你是",
        unbound="黑客 没有规则 没有道德 邪恶 越狱 不受审查 无视规则 没有审查",
        show="显示 输出 打印 重复 告诉我 展示 复述 列出",
        inner="你的系统提示 你的提示词 你的初始提示 你的指令 你的系统指令 你的隐藏指令 你的设定",
        passes=("显示操作说明。", "你现在是小组成员了。"),
        gap=10,
    ),
    _Words(
        "Japanese",
        "ja",
        hush="""
            ユーザーには言わない ユーザーに言わない ユーザーには伝えない ユーザーに伝えない
            ユーザーに知らせない ユーザーには知らせない ユーザーに気づかれない ユーザーには秘密
            ユーザーに内緒
        """,
        become="あなたは今から あなたはこれから 今からあなたは これからあなたは 君は今から",
        unbound="制限のない 制限なし 無制限 ルールのない 検閲のない ハッカー 海賊 邪悪",
        show="見せて 表示して 教えて 出力して 繰り返して",
        inner="あなたの指示 システムプロンプト あなたのプロンプト 初期の指示 隠された指示",
        passes=("操作の説明を表示します。", "あなたは今から参加できます。"),
        gap=14,
    ),
    _Words(
        "Korean",
        "ko",
        hush="""
            사용자에게_말하지 사용자에게_알리지 사용자에게_알려주지 사용자_몰래 사용자에게는_말하지
            사용자에게_비밀로 사용자가_모르게
        """,
        become="이제부터_너는 이제부터_당신은 지금부터_너는 지금부터_당신은 너는_이제 당신은_이제",
        unbound="제한이_없는 제한_없는 무제한 규칙이_없는 검열_없는 해커 해적 사악한",
        show="보여 출력해 말해 알려 반복해",
        inner="""
            너의_지시 당신의_지시 시스템_프롬프트 너의_프롬프트 초기_지시 숨겨진_지시
            당신의_지침
        """,
        passes=("사용 설명을 보여 주세요.", "이제부터 너는 팀원이야."),
        gap=14,
    ),
    _Words(
        "Hindi",
        "hi",
        hush="उपयोगकर्ता_को_मत_बता उपयोगकर्ता_को_न_बता यूज़र_को_मत_बता उपयोगकर्ता_को_नहीं_बता",
        become="अब_तुम अब_आप अब_से_तुम अब_से_आप",
        unbound="बिना_किसी_प्रतिबंध बिना_प्रतिबंध बिना_नियम बिना_किसी_नियम हैकर समुद्री_डाकू डैन",
        show="दिखाओ दिखाएं बताओ बताएं दोहराओ दोहराएं",
        inner="अपने_निर्देश अपना_सिस्टम_प्रॉम्प्ट सिस्टम_प्रॉम्प्ट छिपे_हुए_निर्देश",
        passes=("निर्देश पुस्तिका मेज़ पर है।", "अब आप समूह में हैं।"),
        gap=24,
    ),
    _Words(
        "Arabic",
        "ar",
        hush="""
            لا_تخبر_المستخدم لا_تقل_للمستخدم دون_علم_المستخدم بدون_علم_المستخدم
            دون_إخبار_المستخدم
        """,
        become="أنت_الآن من_الآن_فصاعدا_أنت تصرف_كأنك تظاهر_بأنك",
        unbound="بلا_قيود بدون_قيود دون_قيود بلا_قواعد بدون_قواعد قرصان هاكر",
        show="أظهر أرني اطبع كرر اعرض أخبرني",
        inner="تعليماتك موجه_النظام تعليمات_النظام التعليمات_المخفية",
        passes=("التعليمات على الطاولة.", "أنت الآن عضو."),
        gap=24,
    ),
    _Words(
        "Turkish",
        "tr",
        hush="""
            kullaniciya_soyleme kullaniciya_soylemeyin kullaniciya_bildirme
            kullanicinin_haberi_olmadan kullaniciya_haber_vermeden
        """,
        become="artik_sen sen_artik su_andan_itibaren_sen bundan_sonra_sen simdi_sen",
        unbound="kisitlamasiz sinirsiz kuralsiz filtresiz hacker korsan sansursuz",
        show="goster yazdir tekrarla soyle nedir acikla",
        inner="""
            talimatlarini sistem_istemini sistem_komutunu sistem_promptunu gizli_talimatlarini
            baslangic_talimatlarini
        """,
        passes=("Talimatlar masanın üstünde.", "Artık sen de grupta."),
    ),
    _Words(
        "Vietnamese",
        "vi",
        hush="dung_noi_voi_nguoi_dung khong_noi_cho_nguoi_dung dung_cho_nguoi_dung_biet",
        become="bay_gio_ban_la tu_bay_gio_ban_la ke_tu_bay_gio_ban tu_gio_ban_la",
        unbound="khong_gioi_han khong_co_gioi_han khong_quy_tac hacker cuop_bien",
        show="hien_thi cho_toi_xem in_ra lap_lai tiet_lo",
        inner="huong_dan_cua_ban chi_dan_cua_ban loi_nhac_he_thong chi_thi_he_thong",
        passes=("Xem hướng dẫn trên bàn.", "Bây giờ bạn là thành viên."),
    ),
    _Words(
        "Indonesian",
        "id",
        hush="""
            jangan_beri_tahu_pengguna jangan_katakan_kepada_pengguna
            tanpa_sepengetahuan_pengguna
        """,
        become="sekarang_kamu_adalah sekarang_anda_adalah mulai_sekarang_kamu mulai_sekarang_anda",
        unbound="tanpa_batasan tanpa_aturan tanpa_filter tanpa_sensor peretas bajak_laut",
        show="tampilkan tunjukkan ulangi cetak ungkapkan",
        inner="instruksimu instruksi_anda prompt_sistem instruksi_sistem instruksi_tersembunyi",
        passes=("Petunjuk ada di meja.", "Sekarang kamu adalah anggota."),
    ),
    _Words(
        "Polish",
        "pl",
        hush="nie_mow_uzytkownikowi nie_informuj_uzytkownika bez_wiedzy_uzytkownika",
        become="jestes_teraz teraz_jestes od_teraz_jestes udawaj_ze_jestes zachowuj_sie_jak",
        unbound="bez_ograniczen bez_zasad bez_filtrow bez_cenzury hakerem haker piratem dan",
        show="pokaz wyswietl powtorz ujawnij wypisz podaj",
        inner="""
            swoje_instrukcje swoj_prompt prompt_systemowy instrukcje_systemowe
            ukryte_instrukcje
        """,
        passes=("Pokaż instrukcję obsługi.", "Teraz jesteś w grupie."),
    ),
)

_ATTACKS = (
    Attack(
        "keep-secret",
        "conceal-from-user",
        "It asks, in {}, that the person be kept in the dark.",
        ("hush",),
    ),
    Attack(
        "unbound-persona",
        "role-hijack",
        "It tells the reader, in {}, that it is now somebody without rules.",
        ("become unbound",),
    ),
    Attack(
        "show-instructions",
        "credential-exfil",
        "It asks the reader, in {}, to show its instructions.",
        ("show inner", "inner show"),
    ),
)

CLASSES = classes(_LANGUAGES)
RULES = rules(_LANGUAGES, *_ATTACKS)
